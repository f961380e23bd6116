// Writes others.txtar: Arrow IPC by other writers than the one that Go has, in
// base64. Run it as: npm install apache-arrow@21.2.0 nodejs-polars@0.26.1 && node write.mjs > others.txtar
import * as a from 'apache-arrow'
import pl from 'nodejs-polars'

const column = (values, type) => a.vectorFromArray(values, type)
const javascript = new a.Table({
	i: column([-128, 0, null, 127], new a.Int8()),
	u: column([0n, 18446744073709551615n, 1n, null], new a.Uint64()),
	f: column([0.1, -0, null, 1e300], new a.Float64()),
	ok: column([true, false, null, true], new a.Bool()),
	text: column(['é', '', null, 'longer than twelve bytes'], new a.Utf8()),
	big: column(['x', 'y', null, 'z'], new a.LargeUtf8()),
	word: column(['north', 'south', 'north', null], new a.Dictionary(new a.Utf8(), new a.Int8())),
	day: column([new Date(Date.UTC(2024, 1, 29)), new Date(0), null, new Date(-864e5)], new a.DateDay()),
	at: column([1709209800123, 0, null, -1], new a.TimestampMillisecond('UTC')),
	local: column([1709209800123, 0, null, -1], new a.TimestampMillisecond()),
	list: column([[1, 2], [], null, [3]], new a.List(new a.Field('item', new a.Int32(), true))),
	rec: column([{ x: 'y' }, { x: null }, null, { x: 'z' }], new a.Struct([new a.Field('x', new a.Utf8(), true)])),
	raw: column([new Uint8Array([0, 255]), new Uint8Array(), null, new Uint8Array([1])], new a.Binary()),
})
const polars = pl.DataFrame({
	n: pl.Series('n', [1, 2, null], pl.Int64),
	text: ['é', 'longer than twelve bytes', null],
	word: pl.Series('word', ['a', 'b', 'a']).cast(pl.Categorical),
	day: pl.Series('day', [new Date(Date.UTC(2024, 1, 29)), null, new Date(0)]).cast(pl.Date),
	at: pl.Series('at', [new Date(1709209800123), null, new Date(-1)]).cast(pl.Datetime('us')),
	list: pl.Series('list', [[1, 2], [], null]),
	dec: pl.Series('dec', [1.25, null, -0.5]).cast(pl.Decimal(10, 2)),
})
const many = pl.DataFrame({ n: pl.Series('n', Array(2000).fill(7), pl.Int64), text: Array(2000).fill('the same text in every row') })
const files = {
	'javascript-file': a.tableToIPC(javascript, 'file'),
	'javascript-stream': a.tableToIPC(javascript, 'stream'),
	'polars-file': polars.writeIPC({ compression: 'uncompressed' }),
	'polars-stream': polars.writeIPCStream({ compression: 'uncompressed' }),
	'many-lz4': many.writeIPC({ compression: 'lz4' }),
	'many-zstd': many.writeIPC({ compression: 'zstd' }),
}
process.stdout.write('Made by write.mjs: apache-arrow 21.2.0 (JavaScript) and nodejs-polars 0.26.1 (Rust).\n')
for (const [name, bytes] of Object.entries(files)) {
	process.stdout.write(`-- ${name} --\n${Buffer.from(bytes).toString('base64').replace(/.{1,120}/g, '$&\n')}`)
}
