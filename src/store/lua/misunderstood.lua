-- Scripts for frames that were not understood, in a shard. The id of a frame is `<arrival, ms UTC>-<random>-<device>`; it is in one list
-- (see ../kept-frames.ts), whose zset `<prefix><list>` has all ids, and `<prefix><list>:<device>` those of a device, in
-- their order. `sizes` has bytes by list and by `<list>:<device>`; `due` when each device is to be looked at again.
-- `roster_version`: in the home shard that of the roster, in others the last one that a gateway has told (`mark_releasing`).
local frames, sizes, due, prefix, roster_version = unpack(KEYS)

-- Returns the memory of a frame in Redis, bytes: its text, and its id in three places.
local function size_of(text_length, id) return text_length + 4 * #id + 300 end

local function device_of(id) return string.match(id, '^%d+%-%w+%-(.*)$') end

local function account(list, device, bytes)
  for _, field in ipairs({ list, list .. ':' .. device }) do
    if redis.call('HINCRBY', sizes, field, bytes) <= 0 then redis.call('HDEL', sizes, field) end
  end
end

-- Drops a frame. Answers whether it existed.
local function drop(list, id)
  local length = redis.call('HSTRLEN', frames, id)
  if redis.call('HDEL', frames, id) == 0 then return false end
  local device = device_of(id)
  redis.call('ZREM', prefix .. list, id)
  redis.call('ZREM', prefix .. list .. ':' .. device, id)
  account(list, device, -size_of(length, id))
  local has_more = false
  for _, name in ipairs({ 'position', 'unknown', 'position~', 'unknown~', 'guessed~' }) do
    has_more = has_more or redis.call('HEXISTS', sizes, name .. ':' .. device) == 1
  end
  if not has_more then redis.call('ZREM', due, device) end
  return true
end

-- Returns the set with too many frames or bytes for one more frame: that of the device, or that of all; nil if there is room.
local function too_many(list, device, size, most_frames, most_bytes, most_of_all)
  local own = prefix .. list .. ':' .. device
  local of_own, of_all = unpack(redis.call('HMGET', sizes, list .. ':' .. device, list))
  if redis.call('ZCARD', own) >= most_frames or (of_own or 0) + size > most_bytes then return own end
  if (of_all or 0) + size > most_of_all then return prefix .. list end
end

-- Stores frames, each within its bounds.
-- ARGV  of each: list, id, text, version of the roster by which it was decoded, what happens where there is no room ('0': it
--       is refused; '1': the oldest make room; '2': it makes room itself), most frames and bytes of its device, most bytes
--       of the list
-- Answers { how many made room, then of each 1; 0: there is no room for it }. Of a frame that is there already, 1.
local function keep_frames()
  local version = redis.call('GET', roster_version) or '0'
  local made_room, kept = 0, {}
  for i = 1, #ARGV, 8 do
    local list, id, text, known_version, when_full = unpack(ARGV, i, i + 4)
    local device, size = device_of(id), size_of(#text, id)
    local bounds = { tonumber(ARGV[i + 5]), tonumber(ARGV[i + 6]), tonumber(ARGV[i + 7]) }
    local is_known = redis.call('HEXISTS', frames, id) == 1
    local full = not is_known and too_many(list, device, size, unpack(bounds))
    while full and when_full == '1' do
      local oldest = redis.call('ZRANGE', full, 0, 0)[1]
      if not oldest then break end
      drop(list, oldest)
      made_room = made_room + 1
      full = too_many(list, device, size, unpack(bounds))
    end
    if not is_known and not full then
      redis.call('HSET', frames, id, text)
      redis.call('ZADD', prefix .. list, 0, id)
      redis.call('ZADD', prefix .. list .. ':' .. device, 0, id)
      account(list, device, size)
      redis.call('ZADD', due, 'NX', '+inf', device)
      -- The gateway had not applied the latest roster, so it may have decoded the frame with earlier settings. A change that
      -- no gateway has told this shard yet finds the frame later (src/gateway/redecoding.ts).
      if known_version ~= version then redis.call('ZADD', due, 'LT', 0, device) end
    elseif full and when_full ~= '0' then
      -- Or it is larger than all that there may be: then it is itself the oldest.
      made_room, full = made_room + 1, false
    end
    kept[#kept + 1] = full and 0 or 1
  end
  return { made_room, unpack(kept) }
end

-- Drops frames. ARGV  of each: list, id. Answers how many there were.
local function drop_frames()
  local dropped = 0
  for i = 1, #ARGV, 2 do
    if drop(ARGV[i], ARGV[i + 1]) then dropped = dropped + 1 end
  end
  return dropped
end

-- Replaces the text of a frame, if the frame is still there. ARGV  list, id, text
local function rewrite_frame()
  local list, id, text = unpack(ARGV)
  local length = redis.call('HSTRLEN', frames, id)
  if length == 0 then return end
  redis.call('HSET', frames, id, text)
  account(list, device_of(id), #text - length)
end

-- Ends the claim of a device (claim_held): sets when its frames are decoded again, unless a change has made them due.
-- ARGV  device; time, ms UTC
local function end_claim()
  local device, at = unpack(ARGV)
  local due_at = redis.call('ZSCORE', due, device)
  if due_at and (tonumber(due_at) or math.huge) > now then redis.call('ZADD', due, 'XX', at, device) end
end

