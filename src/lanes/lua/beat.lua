-- Notes that a worker lives, by the clock of Redis, and forgets those that have not said so lately.
-- KEYS  workers
-- ARGV  worker, ms after which a worker is forgotten
-- Answers how many workers there are.
local workers = KEYS[1]
local worker, forget_ms = ARGV[1], ARGV[2]
redis.call('ZADD', workers, now, worker)
redis.call('ZREMRANGEBYSCORE', workers, '-inf', now - forget_ms)
return redis.call('ZCARD', workers)
