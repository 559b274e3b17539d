// What a key has spent today and this month (UTC), and what of it had no price, by model.
// $key  its id
CYPHER 25
MATCH (spend:ServiceSpend {key: $key})
WHERE spend.day >= date.truncate('month', date())
WITH spend, spend.day = date() AS is_today
RETURN sum(CASE WHEN is_today THEN spend.tokens ELSE 0 END) AS tokens_a_day,
  sum(spend.tokens) AS tokens_a_month,
  sum(CASE WHEN is_today THEN spend.money ELSE 0 END) AS money_a_day,
  sum(spend.money) AS money_a_month,
  collect(CASE WHEN spend.unpriced_prompt_tokens + spend.unpriced_completion_tokens > 0 THEN {
    model: spend.model, is_today: is_today, prompt_tokens: spend.unpriced_prompt_tokens,
    completion_tokens: spend.unpriced_completion_tokens,
    cached_tokens: spend.unpriced_cached_tokens,
    batch_prompt_tokens: spend.unpriced_batch_prompt_tokens,
    batch_completion_tokens: spend.unpriced_batch_completion_tokens
  } END) AS unpriced
