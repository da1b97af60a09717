-- Shared by the scripts that store and delete strings of marks: what a string takes of the memory of Redis, bytes. It is
-- counted in blocks of 64 marks, with 200 bytes for the key and its place among the expiries.
local function marks_size(length) return length == 0 and 0 or 200 + math.ceil(length / 384) * 384 end
