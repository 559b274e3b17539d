// What was spent, by day, by key or by collection, the newest or the dearest first.
// $by           day, key or collection
// $key          of this one alone, or '' for all
// $collections  of these alone, or null for all
// $days         how many days back
CYPHER 25
MATCH (spend:ServiceSpend)
WHERE spend.day > date() - duration({days: $days}) AND ($key = '' OR spend.key = $key)
  AND ($collections IS NULL OR spend.collection IN $collections)
WITH CASE $by WHEN 'key' THEN spend.key WHEN 'collection' THEN spend.collection
    ELSE toString(spend.day) END AS what, spend
RETURN what, max(spend.name) AS name, sum(spend.calls) AS calls, sum(spend.tokens) AS tokens,
  sum(spend.saved) AS saved, sum(spend.money) AS money
ORDER BY CASE $by WHEN 'day' THEN what ELSE '' END DESC, money DESC, tokens DESC, what
