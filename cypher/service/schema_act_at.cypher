// Acts are listed from the newest on.
CYPHER 25
CREATE INDEX service_act_at IF NOT EXISTS
FOR (n:ServiceAct) ON (n.at)
