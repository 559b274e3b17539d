// What was spent, by day, by key or by collection, the newest or the dearest first. A row's name is
// that of the day, the key or the collection; `unpriced` is what had no price when it was spent.
// $by    day, key or collection
// $key   of this one alone, or '' for all
// $days  how many days back
CYPHER 25
MATCH (spend:ServiceSpend)
WHERE spend.day > date() - duration({days: $days}) AND ($key = '' OR spend.key = $key)
WITH spend ORDER BY spend.day DESC
WITH CASE $by WHEN 'key' THEN spend.key WHEN 'collection' THEN spend.collection
    ELSE toString(spend.day) END AS what, collect(spend) AS spends
WITH what, CASE $by WHEN 'key' THEN head(spends).name ELSE what END AS name, spends
UNWIND spends AS spend
RETURN what, name, sum(spend.calls) AS calls, sum(spend.tokens) AS tokens,
  sum(spend.saved) AS saved, sum(spend.money) AS money,
  collect(CASE WHEN spend.unpriced_prompt_tokens + spend.unpriced_completion_tokens > 0 THEN {
    model: spend.model, prompt_tokens: spend.unpriced_prompt_tokens,
    completion_tokens: spend.unpriced_completion_tokens,
    cached_tokens: spend.unpriced_cached_tokens,
    batch_prompt_tokens: spend.unpriced_batch_prompt_tokens,
    batch_completion_tokens: spend.unpriced_batch_completion_tokens
  } END) AS unpriced
ORDER BY CASE $by WHEN 'day' THEN what ELSE '' END DESC, money DESC, tokens DESC, what
