import { RequestError } from './client.ts'
import { words } from '../words/index.ts'

/** A file as it is sent: a spreadsheet, or CSV. @throws RequestError if the admin port would not take it */
export function bodyOf(file: File): Blob {
  if (file.size > MOST_BYTES) throw new RequestError(413, words.roster.tooLarge)
  return new Blob([file], { type: isSheet(file) ? XLSX : 'text/csv' })
}

export function isSheet({ name }: File): boolean {
  return /\.xlsx$/i.test(name)
}

/** What the admin port takes. */
const MOST_BYTES = 4 * 1024 * 1024
const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
