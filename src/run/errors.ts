/** Something that the user can put right: the message is one sentence that says what to change; exit code 1. */
export class UserError extends Error {
  override name = 'UserError'
}

/** A listener that could not be opened, as a UserError; any other error as it is. */
export function explained(error: unknown): unknown {
  const { code, syscall, address, port } = error as { [key in 'code' | 'syscall' | 'address' | 'port']?: string }
  if (syscall !== 'listen' && syscall !== 'bind') return error
  const place = port === undefined ? address : `${address}:${port}`
  const reason = LISTEN_REASONS.get(code ?? '') ?? code
  return new UserError(`Cannot listen on ${place}: ${reason}.`)
}

const LISTEN_REASONS = new Map([
  ['EADDRINUSE', 'another program has this port; end it or choose another port'],
  ['EACCES', 'this user may not have that port; choose one above 1023'],
  ['EADDRNOTAVAIL', 'this machine does not have that address'],
])
