import { many, type ProtocolCases, post } from '../support/protocol-cases.ts'

const upload = (callback: string) =>
  post(
    '/upload',
    '--b\r\nContent-Disposition: form-data; name="file"; filename="a.jpg"\r\n\r\n\xff\xd8\r\n' +
      `--b\r\nContent-Disposition: form-data; name="callbackBody"\r\n\r\n${callback}\r\n--b--\r\n`,
  )
const CALLBACK = { imei: '865478000000017', alarmTime: 1714558530, localFileName: 'a_00.jpg' }
const OK = {
  device: CALLBACK.imei,
  response: {
    headers: { 'content-type': 'application/json' },
    body: '{"code":200,"message":"the high success","data":"a_00.jpg"}',
  },
}

export default {
  costly: {
    'a part without end': post('/upload', `name="callbackBody"\r\n\r\n${many('{')}`),
    arrays: upload(many('[')),
  },
  frames: [
    {
      title: 'an upload with a place, one without, and another form',
      frames: [
        {
          frame: upload(JSON.stringify({ ...CALLBACK, lat: '-27.26332', lng: '153.037503' })),
          fixes: [{ time: '2024-05-01T10:15:30Z', latitude: -27.26332, longitude: 153.037503 }],
          ...OK,
        },
        { frame: upload(JSON.stringify(CALLBACK)), none: 'photo', ...OK },
        ...[null, { a: 1 }].map((localFileName) => ({
          frame: upload(JSON.stringify({ ...CALLBACK, localFileName })),
          none: 'photo',
          device: CALLBACK.imei,
          response: { ...OK.response, body: OK.response.body.replace('a_00.jpg', '') },
        })),
        { frame: post('/upload', 'x'), error: 'malformed' },
      ],
    },
  ],
  exceptions: { 'jimiphoto-000': 'the answer names the file; the vector has a placeholder for it' },
} satisfies ProtocolCases
