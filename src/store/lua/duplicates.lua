-- Part of store.lua: which records of a run for a lane are no duplicates, and their marks (see ../duplicates.ts).
-- include marks

-- Bytes of the marks of a string; bytes of the marks of a device, as accounted.
local MOST_OF_SPAN, MOST_OF_DEVICE = 4096 * MARK, 4194304

-- Returns the records whose marks are not known, and their marks.
local function without_known(run, known)
  local new_records, new_marks = {}, {}
  for i, record in ipairs(run.records) do
    local mark = sub(run.marks, (i - 1) * MARK + 1, i * MARK)
    if not among(known, mark) then
      new_records[#new_records + 1] = record
      new_marks[#new_marks + 1] = mark
    end
  end
  return new_records, table.concat(new_marks)
end

local function latest_span(device)
  return tonumber(redis.call('HGET', latest_spans, device) or -1)
end

-- Accounts for bytes of marks of a device.
local function account(device, bytes)
  redis.call('HINCRBY', mark_bytes, device, bytes)
  redis.call('HINCRBY', mark_bytes, '', bytes)
end

-- Keeps a string of marks for the whole window, and notes its span if it is the device's latest.
local function keep(marks_name)
  local device, span = string.match(marks_name, '^(.*):(%d+)$')
  if redis.call('ZADD', mark_expiries, now + keep_ms, marks_name) == 1 then
    account(device, marks_size(redis.call('STRLEN', marks_prefix .. marks_name)))
  end
  if tonumber(span) > latest_span(device) then redis.call('HSET', latest_spans, device, span) end
end

-- Whether a device may have more marks.
local function has_room(device)
  local own, all = unpack(redis.call('HMGET', mark_bytes, device, ''))
  return tonumber(own or 0) < MOST_OF_DEVICE and tonumber(all or 0) < tonumber(most_mark_bytes)
end

-- Whether a string of marks may grow. If so, accounts for its new length.
local function admit(run, before, length)
  if before > 0 and length <= marks_capacity(before) then return true end
  local device = string.match(run.marks_name, '^(.*):')
  if length > MOST_OF_SPAN or not has_room(device) then return false end
  if before > 0 then account(device, marks_size(length) - marks_size(before)) end
  return true
end

-- The records of a run that are no duplicates, and whether their marks could be stored.
local function new_records(run, look_up_all)
  local key, records, marks = marks_prefix .. run.marks_name, run.records, run.marks
  local known
  if look_up_all or run.flags % 2 == 1 then
    known = redis.call('GET', key)
    if known then records, marks = without_known(run, known) end
  end
  local before = 0
  if #marks > 0 then
    before = known and #known or redis.call('STRLEN', key)
    if not admit(run, before, before + #marks) then return records, false end
    redis.call('APPEND', key, marks)
  end
  if #marks > 0 and before == 0 or run.flags % 4 >= 2 then keep(run.marks_name) end
  return records, true
end
