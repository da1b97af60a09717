/** JSON in which a bigint is an integer with all of its digits. */
export function exactJson(value: unknown): string {
  return JSON.stringify(value, (_key, field: unknown) =>
    typeof field === 'bigint' ? JSON.rawJSON(String(field)) : field,
  )
}

declare global {
  interface JSON {
    rawJSON(text: string): object
  }
}
