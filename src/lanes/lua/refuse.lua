-- Moves the record that the service refuses from the head of a lane to its refused ones, under the answer's text.
-- KEYS  schedule, lane's list, push of the lane, lane's refused, lanes with refused ones, parked, ahead, upstream, failing lanes
-- ARGV  lane, token, status, the answer's text, number of records wanted next (0: none, the lane is given back)
-- An entry: u32 length of its header, header (JSON: status, message, at, count), record.
-- Answers { how many were refused in a row, the next records or '' }; false: the lease was lost.
if not holds(KEYS[1], ARGV[1], ARGV[2]) then return false end
local record = redis.call('LPOP', KEYS[2])
local header = cjson.encode({ status = tonumber(ARGV[3]), message = ARGV[4], at = now, count = 1 })
redis.call('RPUSH', KEYS[4], struct.pack('>I4', #header) .. header .. record)
redis.call('ZADD', KEYS[5], 'NX', now, ARGV[1])
redis.call('HDEL', KEYS[6], ARGV[1])
sent_ahead(KEYS[7], ARGV[1])
local refused, row = string.match(redis.call('GET', KEYS[3]) or '', ':(%d+):(%d+)$')
row = refused == ARGV[3] and row + 1 or 1
redis.call('SET', KEYS[3], now .. ':' .. ARGV[3] .. ':' .. row, 'EX', 86400)
answered(KEYS[8], KEYS[9])
local records = ''
if redis.call('EXISTS', KEYS[2]) == 0 then
  redis.call('ZREM', KEYS[1], ARGV[1])
elseif ARGV[5] == '0' then
  redis.call('ZADD', KEYS[1], 'XX', now, ARGV[1])
else
  records = table.concat(redis.call('LRANGE', KEYS[2], 0, ARGV[5] - 1))
end
return { row, records }
