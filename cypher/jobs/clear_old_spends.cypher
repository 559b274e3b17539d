// Deletes some of the sums of days before the last ones, and returns how many. Those of this month
// stay, as quotas are held against them.
// $days   how many days
// $limit  how many at most
CYPHER 25
MATCH (spend:ServiceSpend)
WHERE spend.day < date() - duration({days: $days}) AND spend.day < date.truncate('month', date())
WITH spend LIMIT $limit
DETACH DELETE spend
RETURN count(*) AS deleted
