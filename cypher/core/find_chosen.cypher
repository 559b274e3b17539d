// Which documents of a collection may be asked and fulfil a condition, if the collection has changed
// since. Each row has such documents, with those properties of the condition that they have; rows
// without ids are of documents that do not fulfil it.
// $collection  its name
// $steps       the condition in postfix order (fabula.graph.hits.ConditionStep); [] fits all
// $fields      the properties that it names
// $locks       the beginning of the ids of the collection's locks
// $revision    the revision whose documents the caller knows; '' for none
CYPHER 25
OPTIONAL MATCH (lock:Lock)
WHERE lock.id STARTS WITH $locks
WITH [count(lock), max(lock.taken_at.epochMillis), sum(lock.taken_at.epochMillis),
  sum(lock.taken_at.nanosecond)] AS times
WITH reduce(text = '', number IN times | text + '/' + coalesce(toString(number), '')) AS revision
RETURN revision, COLLECT {
  MATCH (document:Document {collection: $collection})
  WHERE revision <> $revision
  WITH document, [name IN $fields WHERE document[name] IS NOT NULL] AS present,
    reduce(stack = [], step IN $steps | CASE step.do
      WHEN 'and' THEN stack[..-2] + [stack[-2] AND stack[-1]]
      WHEN 'or' THEN stack[..-2] + [stack[-2] OR stack[-1]]
      WHEN 'not' THEN stack[..-1] + [NOT stack[-1]]
      ELSE stack + [coalesce(any(
        // A list fulfils what one of its texts does.
        value IN [] + [name IN step.properties WHERE document[name] IS NOT NULL | document[name]][0]
        WHERE any(own IN [CASE
          WHEN step.numbers = [] AND value IS :: STRING THEN toLower(value)
          // Of a date, or another text, a number is compared with the year in it.
          WHEN value IS :: STRING THEN [at IN range(0, size(left(value, 40)) - 4)
            WHERE substring(' ' + value + ' ', at, 6) =~ '\\D\\d{4}\\D'
            | toInteger(substring(value, at, 4))][0]
          WHEN step.numbers <> [] THEN value END]
          WHERE CASE step.do
            WHEN '=' THEN own IN step.numbers OR toLower(toString(value)) IN step.texts
            WHEN '<' THEN own < coalesce(step.numbers[0], step.texts[0])
            WHEN '<=' THEN own <= coalesce(step.numbers[0], step.texts[0])
            WHEN '>' THEN own > coalesce(step.numbers[0], step.texts[0])
            WHEN '>=' THEN own >= coalesce(step.numbers[0], step.texts[0])
            ELSE toLower(toString(value)) CONTAINS step.texts[0] END)), false)] END) AS fits
  WITH present, collect(CASE WHEN coalesce(fits[0], true) AND document.is_off IS NULL
    THEN document.id END) AS ids
  RETURN {present: present, ids: ids}
} AS found
