// What a key has spent today and this month (UTC).
// $key  its id
CYPHER 25
MATCH (spend:ServiceSpend {key: $key})
WHERE spend.day >= date.truncate('month', date())
WITH spend, spend.day = date() AS is_today
RETURN sum(CASE WHEN is_today THEN spend.tokens ELSE 0 END) AS tokens_a_day,
  sum(spend.tokens) AS tokens_a_month,
  sum(CASE WHEN is_today THEN spend.money ELSE 0 END) AS money_a_day,
  sum(spend.money) AS money_a_month
