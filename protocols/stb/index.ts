/*
 * STB battery-swapping cabinets. No specification is known: inferred from frames. TCP, JSON objects; they have no position:
 *
 *   {"msgType":110,"devId":"I","txnNo":"n",…}     login
 *   {"msgType":310,"devId":"I","txnNo":"n","attrList":[…]}     state of doors and batteries
 *
 *   Answer to both: {"msgType":t + 1,"devId":"I","result":1,"txnNo":"n"}, with blanks
 */
import {
  jsonObjects,
  type Message,
  numericMember,
  objectOf,
  parseJson,
  type Protocol,
  textMember,
} from '../kit/index.ts'

/** Why the types that are known hold no position. */
const REASONS: ReadonlyMap<number | undefined, string> = new Map([
  [110, 'login'],
  [310, 'status'],
])

export default {
  name: 'stb',
  devices: 'STB battery cabinets',
  tcp: { port: 5229, frame: jsonObjects() },
  decode,
} satisfies Protocol

function decode(frame: Buffer): Message {
  const cabinet = objectOf(parseJson(frame.toString()), 'the message')
  const device = textMember(cabinet, 'devId')
  const type = numericMember(cabinet, 'msgType')
  const none = REASONS.get(type)
  if (none === undefined || type === undefined) return { device }
  const txnNo = textMember(cabinet, 'txnNo') ?? ''
  const answer = `{ "msgType": ${type + 1}, "devId": ${JSON.stringify(device ?? '')}, "result": 1, "txnNo": ${JSON.stringify(txnNo)} }`
  return { device, none, reply: Buffer.from(answer) }
}
