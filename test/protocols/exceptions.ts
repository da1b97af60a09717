/** Frames of the vectors that we read otherwise, on purpose: id → why. One that differs no more has to leave the list. */
export const exceptions: Readonly<Record<string, string>> = {
  'teltonika-031': 'a record whose GPS element has a time but no coordinates is no fix, where the peer makes 0/0 of it',
}
