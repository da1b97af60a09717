import { RequestError } from './client.ts'
import { words } from '../words/index.ts'

/** Returns a file as it is sent: a spreadsheet, or CSV. @throws RequestError if the admin port would not accept it */
export function bodyOf(file: File): Blob {
  if (file.size > MOST_BYTES) throw new RequestError(413, words.roster.tooLarge)
  return new Blob([file], { type: isSheet(file) ? XLSX : 'text/csv' })
}

export function isSheet({ name }: File): boolean {
  return /\.xlsx$/i.test(name)
}

/** The largest body that the admin port accepts. */
const MOST_BYTES = 4 * 1024 * 1024
const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
