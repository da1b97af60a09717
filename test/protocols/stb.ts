import { many, type ProtocolCases } from '../support/protocol-cases.ts'

export default {
  costly: { braces: many('{'), members: `{"a":0${many(',"a":0')}}` },
  frames: [
    {
      title: 'a login, a state, another type',
      frames: [
        {
          frame: '{"devId":"CH1","msgType":110,"txnNo":"1625"}',
          device: 'CH1',
          none: 'login',
          reply: '{ "msgType": 111, "devId": "CH1", "result": 1, "txnNo": "1625" }',
        },
        {
          frame: '{"attrList":[{"id":"02101001","value":"5}"}],"devId":"CH1","msgType":310,"txnNo":"1626"}',
          device: 'CH1',
          none: 'status',
          reply: '{ "msgType": 311, "devId": "CH1", "result": 1, "txnNo": "1626" }',
        },
        { frame: '{"devId":"CH1","msgType":999}', device: 'CH1' },
      ],
    },
  ],
  withoutPositions: 'a cabinet for batteries stands where it is: its messages hold no place',
} satisfies ProtocolCases
