/*
 * STB battery-swapping cabinets. No specification is known: inferred from frames. TCP, JSON objects; they have no position:
 *
 *   {"msgType":110,"devId":"I","txnNo":"n",…}     login
 *   {"msgType":310,"devId":"I","txnNo":"n","attrList":[…]}     state of doors and batteries
 *
 *   Answer to both: {"msgType":t + 1,"devId":"I","result":1,"txnNo":"n"}, with blanks
 */
import { jsonObjects, jsonProtocol } from '../kit/index.ts'

/** Why the types that are known hold no position. */
const REASONS: ReadonlyMap<unknown, string> = new Map([
  [110, 'login'],
  [310, 'status'],
])

export default jsonProtocol({
  name: 'stb',
  devices: 'STB battery cabinets',
  tcp: { port: 5229, frame: jsonObjects() },
  device: 'devId',
  none: ({ msgType }) => REASONS.get(Number(msgType)),
  answer({ msgType, devId = '', txnNo = '' }) {
    const [device, number] = [devId, txnNo].map((each) => JSON.stringify(String(each)))
    return `{ "msgType": ${Number(msgType) + 1}, "devId": ${device}, "result": 1, "txnNo": ${number} }`
  },
})
