/** The columns of a routes file, as config/README.md describes them. */
export const ROUTE_COLUMNS = {
  device: 'Required. An id or a name of the devices files.',
  courier_id: 'The courier; empty: the courier of the device.',
  route_id: 'Required. The route.',
  from: 'First instant, inclusive: RFC 3339 with an offset, or local time in `time_zone`.',
  until: 'End, exclusive, in the same formats; empty: the end of the local day of `from`.',
  date: 'Instead of `from` and `until`: a local day such as `2026-11-20`.',
}

/** The names of these columns. */
export const COLUMNS: readonly string[] = Object.keys(ROUTE_COLUMNS)
