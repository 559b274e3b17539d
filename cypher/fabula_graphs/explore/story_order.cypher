// The events of a book in the order in which it tells them, with who, when and where.
// No rows: no such document, nobody of that name, or it has no graph of discourse; `fabula build
// discourse` makes one.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for the first by title
// :param who => '';
//   a name, or a part of it, either case; '' for all
// :param limit => 200;
//   rows at most
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
  OR document.title_key CONTAINS toLower($document)
ORDER BY document.title, document.id
LIMIT 1
MATCH (event:Element&Event {collection: $collection, document: document.id})
WITH document, event,
  COLLECT {
    MATCH (event)-[:WHO]->(:Term {collection: $collection})
      -[:IS]->(entity:Entity {collection: $collection})
    RETURN entity.name AS name
    ORDER BY name
  } AS people,
  COLLECT {
    MATCH (event)-[:WHERE]->(:Term {collection: $collection})
      -[:IS]->(entity:Entity {collection: $collection})
    RETURN entity.name AS name
    ORDER BY name
  } AS places
WHERE $who = '' OR toLower(coalesce(event.who, '')) CONTAINS toLower($who)
  OR any(name IN people WHERE toLower(name) CONTAINS toLower($who))
RETURN document.title AS title,
  CASE event.section WHEN '' THEN '(no heading)' ELSE event.section END AS section,
  CASE WHEN people = [] THEN event.who ELSE reduce(
    all = head(people), name IN tail(people) | all + ', ' + name) END AS who,
  event.predicate AS predicate, event.what AS what, event.when AS when,
  CASE WHEN places = [] THEN event.where ELSE reduce(
    all = head(places), name IN tail(places) | all + ', ' + name) END AS where,
  event.why AS why, event.how AS how, event.start AS start, event.end AS end
ORDER BY start, event.ordinal, event.id
LIMIT $limit
