-- Shared by append and move: stores a group of runs.
-- A run is what one frame leaves behind for one place: u8 kind ('L' a lane; 'U', 'N', 'C' held: unknown, no route, clock);
-- u8 length and name of the lane or device; u8 length and name of the set that remembers what was seen (0: none);
-- u8 flags (1: look up first, 2: keep the set for the whole window from now, 4: the device's latest set is asked for); u16 number of records; where there is a set, as
-- many members of 16 digits; u32 length of the records; records (first byte: length).
local byte, sub = string.byte, string.sub

-- The device of a set and its span.
local function keep(key, latest, set, window)
  redis.call('PEXPIRE', key, window)
  local device, span = string.match(set, '^(.*):(%d+)$')
  if tonumber(span) > tonumber(redis.call('HGET', latest, device) or -1) then redis.call('HSET', latest, device, span) end
end

-- The records that were not seen before, and how many were. Where members are newer than everything of their device, SADD
-- both remembers them and, had they been there after all, says so.
local function unseen(records, members, set, look_up)
  if look_up then
    local known = redis.call('SMISMEMBER', set, unpack(members))
    local new_records, new_members = {}, {}
    for i = 1, #records do
      if known[i] == 0 then
        new_records[#new_records + 1] = records[i]
        new_members[#new_members + 1] = members[i]
      end
    end
    if #new_members > 0 then redis.call('SADD', set, unpack(new_members)) end
    return new_records, #records - #new_records
  end
  if redis.call('SADD', set, unpack(members)) == 0 then return {}, #records end
  return records, 0
end

-- KEYS 1-6: schedule, custody, prefix of lanes, prefix of held, prefix of seen, latest spans.  Answers a list of: for each run
-- of which records were left out its number from 0 and how many were seen before, or -1 where a device is unknown and too many
-- are; and a list of: for each run that asked its number and the device's latest span before, or -1.
local function store(group, delay, window, held_most, unknown_most)
  local at, run = 1, 0
  local scheduled = { 'ZADD', KEYS[1], 'NX' }
  local left_out, latest = {}, {}
  local duplicates, overflowed, refused = 0, 0, 0

  while at <= #group do
    local kind = byte(group, at)
    local name = sub(group, at + 2, at + 1 + byte(group, at + 1))
    at = at + 2 + #name
    local set = sub(group, at + 1, at + byte(group, at))
    at = at + 1 + #set
    local flags, high, low = byte(group, at, at + 2)
    local count = high * 256 + low
    at = at + 3
    local members, records = {}, {}
    if #set > 0 then
      for i = 1, count do
        members[i] = sub(group, at, at + 15)
        at = at + 16
      end
    end
    at = at + 4
    for i = 1, count do
      local length = byte(group, at)
      records[i] = sub(group, at, at + length - 1)
      at = at + length
    end

    if kind == 76 then
      local seen = 0
      if #set > 0 then
        if flags >= 4 then
          latest[#latest + 1] = run
          latest[#latest + 1] = tonumber(redis.call('HGET', KEYS[6], string.match(set, '^(.*):')) or -1)
        end
        records, seen = unseen(records, members, KEYS[5] .. set, flags % 2 == 1)
        if flags % 4 >= 2 then keep(KEYS[5] .. set, KEYS[6], set, window) end
      end
      if seen > 0 then
        left_out[#left_out + 1] = run
        left_out[#left_out + 1] = seen
        duplicates = duplicates + seen
      end
      if #records > 0 then
        redis.call('RPUSH', KEYS[3] .. name, unpack(records))
        scheduled[#scheduled + 1] = now + delay
        scheduled[#scheduled + 1] = name
        if #scheduled > 2000 then
          redis.call(unpack(scheduled))
          scheduled = { 'ZADD', KEYS[1], 'NX' }
        end
      end
    else
      local reason = kind == 85 and 'unknown' or kind == 78 and 'no_route' or 'clock'
      local index, list = KEYS[4] .. reason, KEYS[4] .. reason .. ':' .. name
      if kind == 85 and redis.call('EXISTS', list) == 0 and redis.call('ZCARD', index) >= unknown_most then
        left_out[#left_out + 1] = run
        left_out[#left_out + 1] = -1
        refused = refused + count
      else
        local length = redis.call('RPUSH', list, unpack(records))
        redis.call('ZADD', index, 'NX', now, name)
        if length > held_most then
          redis.call('LTRIM', list, length - held_most, -1)
          overflowed = overflowed + length - held_most
        end
      end
    end
    run = run + 1
  end

  if #scheduled > 3 then redis.call(unpack(scheduled)) end
  if duplicates > 0 then redis.call('HINCRBY', KEYS[2], 'filtered:duplicate', duplicates) end
  if overflowed > 0 then redis.call('HINCRBY', KEYS[2], 'discarded:held_overflow', overflowed) end
  if refused > 0 then redis.call('HINCRBY', KEYS[2], 'received', -refused) end
  return { left_out, latest }
end
