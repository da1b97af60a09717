/** An MQTT 3.1.1 CONNECT with a user name, and a password unless it is ''. */
export function mqttConnect(user: string, password: string, client = user): Buffer {
  const flags = password === '' ? 0x82 : 0xc2
  const body = Buffer.concat([
    text('MQTT'),
    Buffer.of(4, flags, 0, 60),
    text(client),
    text(user),
    ...(password === '' ? [] : [text(password)]),
  ])
  return Buffer.concat([Buffer.of(0x10, body.length), body])
}

/** A PUBLISH with QoS 1, longer than 16 KB. */
export function mqttPublish(topic: string, payload: Buffer): Buffer {
  const body = Buffer.concat([text(topic), Buffer.of(0, 1), payload])
  const { length } = body
  return Buffer.concat([Buffer.of(0x32, (length & 0x7f) | 0x80, ((length >> 7) & 0x7f) | 0x80, length >> 14), body])
}

function text(value: string): Buffer {
  return Buffer.concat([Buffer.of(0, value.length), Buffer.from(value)])
}
