-- Moves the records that the service refuses from the head of a lane to its refused ones, under the answer's text.
-- KEYS  schedule, lane's list, push of the lane, lane's refused, lanes with refused ones, parked
-- ARGV  lane, token, number refused, status, the answer's text
-- An entry: u32 length of its header, header (JSON: status, message, at, count), records.  Answers 1; false: the lease was lost.
if tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or -1) ~= tonumber(ARGV[2]) then return false end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local records = redis.call('LRANGE', KEYS[2], 0, ARGV[3] - 1)
local header = cjson.encode({ status = tonumber(ARGV[4]), message = ARGV[5], at = now, count = #records })
redis.call('RPUSH', KEYS[4], struct.pack('>I4', #header) .. header .. table.concat(records))
redis.call('SADD', KEYS[5], ARGV[1])
redis.call('HDEL', KEYS[6], ARGV[1])
redis.call('LTRIM', KEYS[2], #records, -1)
if redis.call('EXISTS', KEYS[2]) == 1 then
  redis.call('ZADD', KEYS[1], 'XX', now, ARGV[1])
else
  redis.call('ZREM', KEYS[1], ARGV[1])
end
redis.call('SET', KEYS[3], now .. ':' .. ARGV[4] .. ':0', 'EX', 86400)
return 1
