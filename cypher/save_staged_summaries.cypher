// Stages summaries, tied to the staged passages they summarise.
// $run   the name of this run
// $rows  {id, properties, embedding, members} of each, the members' before it;
//        members are {id, weight}, and the weight is the membership probability
CYPHER 25
UNWIND $rows AS row
MERGE (summary:Staged {run: $run, id: row.id})
SET summary += row.properties
WITH summary, row
CALL db.create.setNodeVectorProperty(summary, 'embedding', row.embedding)
UNWIND row.members AS member
MATCH (below:Staged {run: $run, id: member.id})
MERGE (summary)-[edge:SUMMARIZES]->(below)
SET edge.weight = member.weight
