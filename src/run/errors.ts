/** Something that the user can put right: the message is one sentence that says what to change; exit code 1. */
export class UserError extends Error {
  override name = 'UserError'
}
