// Adds what was spent to the days' sums, once for each batch of a journal, however often it is sent.
// $journal  the journal of one process
// $batch    the number of the batch: one that is not higher than the last is there already
// $entries  of each: id (of key, collection, what and model together), age (in seconds), key, name,
//           collection, what, model, calls, prompt_tokens, completion_tokens, cached_tokens, saved,
//           batch_prompt_tokens and batch_completion_tokens (those of both that went by batches),
//           money (in US dollars), and is_unpriced, where the model's price is not known
CYPHER 25
MERGE (journal:ServiceJournal {id: $journal})
// First, so that whoever sends the same batch at the same time waits until it is there.
SET journal.seen = datetime()
WITH journal
WHERE COALESCE(journal.last, 0) < $batch
SET journal.last = $batch
WITH journal
UNWIND $entries AS entry
WITH entry, date(datetime() - duration({seconds: entry.age})) AS day
MERGE (spend:ServiceSpend {id: entry.id + ' ' + toString(day)})
ON CREATE SET spend.day = day, spend.key = entry.key, spend.collection = entry.collection,
  spend.what = entry.what, spend.model = entry.model, spend.calls = 0, spend.tokens = 0,
  spend.saved = 0, spend.money = 0.0, spend.unpriced_prompt_tokens = 0,
  spend.unpriced_completion_tokens = 0, spend.unpriced_cached_tokens = 0,
  spend.unpriced_batch_prompt_tokens = 0, spend.unpriced_batch_completion_tokens = 0
SET spend.name = entry.name, spend.calls = spend.calls + entry.calls,
  spend.tokens = spend.tokens + entry.prompt_tokens + entry.completion_tokens,
  spend.saved = spend.saved + entry.saved, spend.money = spend.money + entry.money
FOREACH (part IN CASE WHEN entry.is_unpriced THEN [entry] ELSE [] END |
  SET spend.unpriced_prompt_tokens = spend.unpriced_prompt_tokens + part.prompt_tokens,
    spend.unpriced_completion_tokens = spend.unpriced_completion_tokens + part.completion_tokens,
    spend.unpriced_cached_tokens = spend.unpriced_cached_tokens + part.cached_tokens,
    spend.unpriced_batch_prompt_tokens = spend.unpriced_batch_prompt_tokens
      + part.batch_prompt_tokens,
    spend.unpriced_batch_completion_tokens = spend.unpriced_batch_completion_tokens
      + part.batch_completion_tokens
)
