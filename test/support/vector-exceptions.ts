import type { Vector } from './vectors.ts'

const SHORT_DATA_STORED = { replies: [{ text: '#ASD#1\r\n' }] }

/** Frames of the vectors that we read otherwise, on purpose: id → why. One that differs no more has to leave the list. */
export const exceptions: Readonly<Record<string, string>> = {
  'gt06-051': 'cells with a date under type 19 are answered as the specification has it, where the peer is silent',
  'gt06-119': 'the offer of a photo is answered, but the photo not asked for',
  'gt06-161': 'a heartbeat of the ZX303 family has neither the serial number nor the checksum that an answer needs',
  'teltonika-031': 'a record whose GPS element has a time but no coordinates is no fix, where the peer makes 0/0 of it',
}

/**
 * Where the peer is plainly wrong against the vendor's specification: id → what the specification says in its place, which
 * is what the frame has to yield.
 */
export const corrections: Readonly<Record<string, Partial<Pick<Vector, 'deviceId' | 'positions' | 'replies'>>>> = {
  // Wialon IPS, "Short data packet": the answer to #SD# is #ASD#. A device that waits for it would send again for ever.
  'wialon-001': SHORT_DATA_STORED,
  'wialon-012': SHORT_DATA_STORED,
  'wialon-013': SHORT_DATA_STORED,
  'wialon-014': SHORT_DATA_STORED,
  // A photo would be downloaded over the SIM card of the device and thrown away: nothing asks for it.
  'teltonika-049': { replies: [] },
  'teltonika-050': { replies: [] },
  // The id is the app's UserID, over HTTP as over MQTT; the peer takes the whole topic.
  'owntracks-005': { deviceId: 'qtripp' },
}
