// Runs a WASI command: node run.mjs MODULE DIRECTORY, the directory being its root.
import { readFile } from 'node:fs/promises';
import { WASI } from 'node:wasi';

const [module, root] = process.argv.slice(2);
const wasi = new WASI({
  version: 'preview1',
  args: ['python'],
  env: { TESTS: process.env.TESTS ?? '' },
  preopens: { '/': root },
});
const { instance } = await WebAssembly.instantiate(await readFile(module), wasi.getImportObject());
process.exitCode = wasi.start(instance);
