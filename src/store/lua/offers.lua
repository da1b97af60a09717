-- Replaces an offer of a redelivery (JSON), unless it was taken meanwhile.
local offers = KEYS[1]
local field, offer = unpack(ARGV)
if redis.call('HEXISTS', offers, field) == 1 then redis.call('HSET', offers, field, offer) end
