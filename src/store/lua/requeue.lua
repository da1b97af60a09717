-- Puts kept fixes of a device and hour into another lane, behind what waits there, and notes in their list that they are queued for
-- it. Nothing changes if the list is not as long as it was when it was read, or if the lane has many records.
-- ARGV  hour; device; length of its list; lane; records, one behind the other, and how many; chunk to keep (kept.lua);
--       ms until a lane that was empty is due; most records that may wait in the lane
-- Returns 1 if the fixes were queued, 0 if the lane has too many records, false if the list has changed.
-- include kept
local schedule, custody, lane_prefix, clock = unpack(KEYS, 1, 4)
local kept = { prefix = KEYS[5], hours = KEYS[6], ms = 0, counts = {} }
local hour, device, length, lane, bytes, count, chunk, lane_delay, most = unpack(ARGV)

if redis.call('LLEN', kept.prefix .. hour .. ':' .. device) ~= tonumber(length) then return false end
if redis.call('LLEN', lane_prefix .. lane) >= tonumber(most) then return 0 end

local records, at = {}, 1
while at <= #bytes do
  local behind = at + string.byte(bytes, at)
  records[#records + 1] = string.sub(bytes, at, behind - 1)
  at = behind
end
if redis.call('RPUSH', lane_prefix .. lane, unpack(records)) == #records then
  note_clock(clock)
  redis.call('ZADD', schedule, 'NX', string.format('%.0f', now + lane_delay), lane)
end
-- The list exists, so its last entry is known.
keep(kept, '\254' .. lane, chunk)
count_kept(kept)
redis.call('HINCRBY', custody, 'requeued', count)
return 1
