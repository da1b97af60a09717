import { crc32, deflateRawSync } from 'node:zlib'

/** A ZIP archive of these files; `sizes`: what its directory says they have unpacked, if that is not the truth. */
export function zip(
  files: Readonly<Record<string, string | Buffer>>,
  sizes: Readonly<Record<string, number>> = {},
): Buffer {
  const [local, directory]: Buffer[][] = [[], []]
  let offset = 0
  for (const [path, content] of Object.entries(files)) {
    const [name, bytes] = [Buffer.from(path), Buffer.from(content)]
    const packed = deflateRawSync(bytes)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(8, 4)
    common.writeUInt32LE(crc32(bytes), 10)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(sizes[path] ?? bytes.length, 18)
    common.writeUInt16LE(name.length, 22)
    const head = Buffer.concat([Buffer.from([0x50, 0x4b, 3, 4]), common, name, packed])
    const tail = Buffer.alloc(14)
    tail.writeUInt32LE(offset, 10)
    directory.push(Buffer.concat([Buffer.from([0x50, 0x4b, 1, 2, 20, 0]), common, tail, name]))
    local.push(head)
    offset += head.length
  }
  const entries = Buffer.concat(directory)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(directory.length, 4)
  end.writeUInt16LE(directory.length, 6)
  end.writeUInt32LE(entries.length, 8)
  end.writeUInt32LE(offset, 12)
  return Buffer.concat([...local, entries, Buffer.from([0x50, 0x4b, 5, 6]), end])
}

/** A date and time of a spreadsheet. */
export class SheetDate {
  readonly serial: number

  constructor(text: string) {
    this.serial = Date.parse(`${text.replace(' ', 'T')}Z`) / 86_400_000 + 25_569
  }
}

/** The parts of an .xlsx file with one sheet; null: an empty cell. */
export function sheetFiles(rows: readonly (readonly (string | number | SheetDate | null)[])[]): Record<string, string> {
  const cell = (value: string | number | SheetDate | null, at: string) => {
    if (value === null) return ''
    if (value instanceof SheetDate) return `<c r="${at}" s="1"><v>${value.serial}</v></c>`
    if (typeof value === 'number') return `<c r="${at}"><v>${value}</v></c>`
    return `<c r="${at}" t="inlineStr"><is><t>${value.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</t></is></c>`
  }
  const lines = rows.map((row, y) => {
    const cells = row.map((value, x) => cell(value, `${String.fromCharCode(65 + x)}${y + 1}`)).join('')
    return cells === '' ? '' : `<row r="${y + 1}">${cells}</row>`
  })
  const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
  const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
  return {
    '[Content_Types].xml': '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
    'xl/workbook.xml': `<workbook xmlns="${main}" xmlns:r="${office}"><sheets><sheet name="Tour" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="${office}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${office}/styles" Target="styles.xml"/></Relationships>`,
    'xl/styles.xml': `<styleSheet xmlns="${main}"><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="22" applyNumberFormat="1"/></cellXfs></styleSheet>`,
    'xl/worksheets/sheet1.xml': `<worksheet xmlns="${main}"><sheetData>${lines.join('')}</sheetData></worksheet>`,
  }
}
