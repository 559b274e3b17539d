// Adds what models were asked, on a day, for a key, in a collection, at one kind of work.
// $id                      of these four together
// $key, $name              who asked, and what they are called
// $collection, $what       where, and for what: ask, search, ingest and so on
// $calls, $tokens, $saved  calls answered, tokens of both kinds, calls that were saved
// $money                   in US dollars
CYPHER 25
MERGE (spend:ServiceSpend {id: $id + ' ' + toString(date())})
ON CREATE SET spend.day = date(), spend.key = $key, spend.collection = $collection,
  spend.what = $what, spend.calls = 0, spend.tokens = 0, spend.saved = 0, spend.money = 0.0
SET spend.name = $name, spend.calls = spend.calls + $calls, spend.tokens = spend.tokens + $tokens,
  spend.saved = spend.saved + $saved, spend.money = spend.money + $money
