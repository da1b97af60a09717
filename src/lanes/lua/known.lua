-- Which fixes a shard has stored already, by their marks (see ../other-shards.ts).
-- ARGV  of each fix the name of its string of marks, `<device>:<span>`, and its mark
-- Answers the numbers of those that are stored, from 0.
-- include marks
local marks_prefix, mark_bytes = unpack(KEYS)
local strings, known = {}, {}
for i = 1, #ARGV, 2 do
  local name, mark = ARGV[i], ARGV[i + 1]
  if strings[name] == nil then strings[name] = redis.call('GET', marks_prefix .. name) end
  if strings[name] and among(strings[name], mark) then known[#known + 1] = (i - 1) / 2 end
end
-- A write that changes nothing. The caller waits until the replicas have it, and so every mark before it: a fix whose mark may be
-- lost with this primary is not dropped. A server that is not the primary any more refuses it.
redis.call('HINCRBY', mark_bytes, '', 0)
return known
