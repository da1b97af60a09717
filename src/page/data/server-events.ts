/** One server-sent event. */
export interface ServerEvent {
  readonly id?: string
  readonly event: string
  readonly data: string
}

/**
 * The events of a stream, as the HTML standard parses them. `onBytes` is called for all bytes that arrive, comments
 * included.
 */
export async function* serverEvents(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void,
): AsyncGenerator<ServerEvent> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      onBytes()
      rest += decoder.decode(value, { stream: true }).replaceAll('\r', '')
      const blocks = rest.split('\n\n')
      rest = blocks.pop() ?? ''
      for (const block of blocks) {
        const event = eventOf(block)
        if (event) yield event
      }
    }
  } finally {
    void reader.cancel().catch(() => {})
  }
}

/** Returns the event of a block of lines; undefined if it has no data, like a comment. */
function eventOf(block: string): ServerEvent | undefined {
  const fields = block.split('\n').map((line) => /^(\w+): ?(.*)$/.exec(line))
  const of = (name: string) => fields.filter((field) => field?.[1] === name).map((field) => field?.[2] ?? '')
  const [data, [event = 'message'], [id]] = [of('data'), of('event'), of('id')]
  return data.length > 0 || event === 'reset' ? { id, event, data: data.join('\n') } : undefined
}
