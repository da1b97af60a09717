/** Whose data a topic carries, and which protocol reads it. */
export interface Topic {
  readonly device: string
  readonly protocol: string
}

/** `devices/<device>/<protocol>` or `owntracks/<device>/<anything>`; no other topic is ours. */
export function readTopic(topic: string): Topic | undefined {
  const [root, device, name, ...more] = topic.split('/')
  if (name === undefined) return undefined
  if (root === 'owntracks') return { device, protocol: 'owntracks' }
  return root === 'devices' && more.length === 0 ? { device, protocol: name } : undefined
}
