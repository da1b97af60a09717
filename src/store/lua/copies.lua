-- Logs and the copies that get them (see ../copied.ts). Entries and fixes of a log are numbered from 0 on, for ever.
-- KEYS  as named
local logs_prefix, entries_ends, fixes_ends, cursors_prefix, counts, own, copying, forgotten, clock = unpack(KEYS)

local function text_of(number) return string.format('%.0f', number) end

-- The number of the first entry that a log still has.
local function first_entry(log)
  return tonumber(redis.call('HGET', entries_ends, log) or 0) - redis.call('LLEN', logs_prefix .. log)
end

-- How often fixes were deleted from a log.
local function forgotten_in(log)
  return redis.call('HGET', forgotten, log) or '0'
end

-- The cursor of a copy: the number of the entry that it gets next, of the first fix in it, of the first fix that it ever got, when a
-- process had it configured last, ms UTC, and where it ends, if it gets the log no more. Nothing where it does not get the log.
local function cursor_of(copy, log)
  local value = redis.call('HGET', cursors_prefix .. log, copy)
  if not value then return end
  local entry, fix, start, seen, last = string.match(value, '^(%d+) (%d+) (%d+) (%d+) ?(%d*)$')
  return tonumber(entry), tonumber(fix), tonumber(start), tonumber(seen), tonumber(last)
end

local function set_cursor(copy, log, entry, fix, start, seen, last)
  local numbers = { text_of(entry), text_of(fix), text_of(start), text_of(seen), last and text_of(last) }
  redis.call('HSET', cursors_prefix .. log, copy, table.concat(numbers, ' '))
end

-- Deletes the entries that every copy has got. A log without copies is deleted.
local function trim(log)
  local slowest
  for _, value in ipairs(redis.call('HVALS', cursors_prefix .. log)) do
    local entry = tonumber(string.match(value, '^%d+'))
    if not slowest or entry < slowest then slowest = entry end
  end
  if not slowest then
    redis.call('DEL', logs_prefix .. log)
    redis.call('HDEL', entries_ends, log)
    redis.call('HDEL', fixes_ends, log)
    redis.call('HDEL', forgotten, log)
    return
  end
  local done = slowest - first_entry(log)
  if done > 0 then redis.call('LTRIM', logs_prefix .. log, done, -1) end
end

-- Has copies get logs: from now on, or all that a log has that no copy gets. Notes that they are configured.
-- ARGV  ms after which that is noted again; copy and log of each
local function enter_copies()
  local again_ms = tonumber(ARGV[1])
  for i = 2, #ARGV, 2 do
    local copy, log = ARGV[i], ARGV[i + 1]
    local entry, fix, start, seen, last = cursor_of(copy, log)
    if not entry then
      local is_first = redis.call('EXISTS', cursors_prefix .. log) == 0
      local fixes = tonumber(redis.call('HGET', fixes_ends, log) or 0)
      entry = is_first and first_entry(log) or tonumber(redis.call('HGET', entries_ends, log) or 0)
      -- If there were no copies, nothing was trimmed: the log is complete.
      fix = is_first and 0 or fixes
      start = fix
    end
    if not seen or last or now - seen >= again_ms or now < seen then set_cursor(copy, log, entry, fix, start, now) end
  end
end

-- Answers { log, entries, fixes, length of the list, fields and values of its cursors } of each log, and the counts.
local function survey_copies()
  local found = {}
  local fixes = {}
  local ends = redis.call('HGETALL', fixes_ends)
  for i = 1, #ends, 2 do fixes[ends[i]] = ends[i + 1] end
  ends = redis.call('HGETALL', entries_ends)
  local names = {}
  for i = 1, #ends, 2 do
    local log = ends[i]
    names[log] = true
    found[#found + 1] = { log, ends[i + 1], fixes[log] or '0', redis.call('LLEN', logs_prefix .. log), redis.call('HGETALL', cursors_prefix .. log) }
  end
  -- Logs without any entry yet.
  for _, log in ipairs(ARGV) do
    if not names[log] then found[#found + 1] = { log, '0', '0', 0, redis.call('HGETALL', cursors_prefix .. log) } end
  end
  return { found, redis.call('HGETALL', counts) }
end

-- Entries of a log from a number on, or from the first that it still has. Answers { number of the first, entries, how often fixes were deleted from it }.
local function entries_from(log, from, most)
  local first = first_entry(log)
  from = math.max(from, first)
  return { text_of(from), redis.call('LRANGE', logs_prefix .. log, from - first, from - first + most - 1), forgotten_in(log) }
end

-- ARGV  log, number of the first entry, how many at most
local function read_log()
  return entries_from(ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]))
end

-- Reads what a copy gets next, without moving its cursor. ARGV  copy, log, number of the first entry, how many at most
-- Answers nothing where the copy does not get the log.
local function read_copied()
  local copy, log, from, most = unpack(ARGV)
  local entry = cursor_of(copy, log)
  if entry then return entries_from(log, math.max(tonumber(from), entry), tonumber(most)) end
end

-- Moves the cursor of a copy, and deletes what no copy needs any more.
-- ARGV  copy, log, token of the worker that sends it, how often fixes had been deleted from the log when it read them (both '': they do not
--       matter), most parked fixes; number of the entry at which the cursor is, and of that to which it moves, SHA-1 of the entry before that;
--       fixes that it passes, and how many of them were delivered, and discarded; entries for `own`, the list of what is parked
-- Answers 1; otherwise where the cursor is, negative and 1 less, and nothing has changed; nothing where the copy does not get the log.
local function advance_copy()
  local copy, log, token, known, most_parked = unpack(ARGV, 1, 5)
  local from, to, mark = tonumber(ARGV[6]), tonumber(ARGV[7]), ARGV[8]
  local passed, delivered, discarded = ARGV[9], ARGV[10], tonumber(ARGV[11])
  local entry, fix, start, seen, last = cursor_of(copy, log)
  if not entry then return end
  if entry ~= from or token ~= '' and redis.call('GET', copying) ~= token then return -1 - entry end
  if known ~= '' and forgotten_in(log) ~= known then return -1 - entry end
  -- After a failover, other entries may have these numbers.
  local found = redis.call('LINDEX', logs_prefix .. log, to - 1 - first_entry(log))
  if not found or redis.sha1hex(found) ~= mark then return -1 - entry end
  set_cursor(copy, log, to, fix + passed, start, seen, last)
  if tonumber(delivered) > 0 then redis.call('HINCRBY', counts, copy .. ' delivered', delivered) end
  for i = 12, #ARGV do
    redis.call('RPUSH', own, ARGV[i])
  end
  local over = redis.call('LLEN', own) - most_parked
  if #ARGV >= 12 and over > 0 then
    redis.call('LTRIM', own, over, -1)
    discarded = discarded + over
  end
  if discarded > 0 then redis.call('HINCRBY', counts, copy .. ' discarded', discarded) end
  trim(log)
  return 1
end

-- Ends that a copy gets a log, unless a process had it configured lately. What waits of it is discarded.
-- ARGV  copy, log, ms without a sign that it is configured; '1': the copy gets another log with the same fixes by now, and what was written
--       before is to be sent: it ends once that is done, and the rest is no loss
-- Answers how many fixes are discarded; nothing where it stays
local function leave_copy()
  local copy, log, silent_ms, is_replaced = unpack(ARGV)
  local entry, fix, start, seen, last = cursor_of(copy, log)
  if not entry then return end
  if now < seen then return set_cursor(copy, log, entry, fix, start, now, last) end
  -- While Redis was away, nobody could note that.
  if now - seen < tonumber(silent_ms) or note_clock(clock) then return end
  if is_replaced == '1' then
    if not last then
      last = tonumber(redis.call('HGET', entries_ends, log) or 0)
      set_cursor(copy, log, entry, fix, start, seen, last)
    end
    if entry < last then return end
  end
  local fixes = is_replaced == '1' and fix or tonumber(redis.call('HGET', fixes_ends, log) or 0)
  redis.call('HDEL', cursors_prefix .. log, copy)
  redis.call('HINCRBY', counts, copy .. ' left', text_of(fixes - start))
  redis.call('HINCRBY', counts, copy .. ' discarded', text_of(fixes - fix))
  trim(log)
  return fixes - fix
end

-- Deletes what is left of a copy that gets no log: its counts, and what is parked. ARGV  copy. Answers how many fixes were parked
local function end_copy()
  local copy = ARGV[1]
  local parked = redis.call('LLEN', own)
  redis.call('DEL', own)
  redis.call('HDEL', counts, copy .. ' delivered', copy .. ' discarded', copy .. ' left', copy .. ' retry')
  return parked
end

-- Has what is parked of a copy tried again: while it is tried, once more afterwards. ARGV  copy. Answers how many fixes
local function retry_copy()
  local parked, field = redis.call('LLEN', own), ARGV[1] .. ' retry'
  local before = tonumber(redis.call('HGET', counts, field) or 0)
  if parked > 0 then redis.call('HSET', counts, field, parked + math.min(before, parked)) end
  return parked
end

-- Notes that parked fixes of a copy were tried again, unless that was asked for in the meantime. ARGV  copy, how many
local function end_retry()
  local field, tried = ARGV[1] .. ' retry', ARGV[2]
  local left = (redis.call('HGET', counts, field) or 0) - tried
  if left > 0 then redis.call('HSET', counts, field, left) else redis.call('HDEL', counts, field) end
end

-- Deletes what is parked of a copy. ARGV  copy. Answers how many fixes
local function discard_parked()
  local parked = redis.call('LLEN', own)
  redis.call('DEL', own)
  redis.call('HDEL', counts, ARGV[1] .. ' retry')
  if parked > 0 then redis.call('HINCRBY', counts, ARGV[1] .. ' discarded', parked) end
  return parked
end

-- Deletes a log that no copy gets.
local function trim_log()
  trim(ARGV[1])
end

-- Takes, or renews, the turn of a worker to send a copy. ARGV  its token, ms. Answers 1 if it has the turn
local function hold_copy()
  local token, ms = unpack(ARGV)
  local holder = redis.call('GET', copying)
  if holder and holder ~= token then
    -- A longer turn was taken while Redis' clock was ahead.
    if redis.call('PTTL', copying) > tonumber(ms) then redis.call('PEXPIRE', copying, ms) end
    return 0
  end
  redis.call('SET', copying, token, 'PX', ms)
  return 1
end

local function release_copy()
  if redis.call('GET', copying) == ARGV[1] then redis.call('DEL', copying) end
end

-- Replaces an entry of a log that is as it was read. ARGV  log, number of the entry, the entry as it was, and as it shall be
-- Answers 1; 0 where it is another one, or gone.
local function replace_copied()
  local log, number, before, after = unpack(ARGV)
  local at = number - first_entry(log)
  if at < 0 or redis.call('LINDEX', logs_prefix .. log, at) ~= before then return 0 end
  redis.call('LSET', logs_prefix .. log, at, after)
  redis.call('HINCRBY', forgotten, log, 1)
  return 1
end

-- Takes a parked fix out. ARGV  copy, the entry, what it counts as: delivered or discarded. Answers how many
local function settle_parked()
  local copy, entry, fate = unpack(ARGV)
  local left = redis.call('LREM', own, 1, entry)
  if left > 0 then redis.call('HINCRBY', counts, copy .. ' ' .. fate, left) end
  return left
end
