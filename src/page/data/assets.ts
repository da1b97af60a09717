/** A JSON file that was built with the page. */
export async function readAsset<File>(name: string): Promise<File> {
  return (await (await fetch(new URL(`../../${name}`, import.meta.url))).json()) as File
}
