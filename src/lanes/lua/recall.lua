-- The roster as it is at one time; not by MULTI, which Redis denies while its memory is full.
-- KEYS: time of the last write, hashes of devices, files and routes.
-- Answers with the time, or false; fields and values of devices; those of files; the fields of routes.
return {
  redis.call('GET', KEYS[1]),
  redis.call('HGETALL', KEYS[2]),
  redis.call('HGETALL', KEYS[3]),
  redis.call('HKEYS', KEYS[4]),
}
