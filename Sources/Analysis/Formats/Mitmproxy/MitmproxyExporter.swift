internal import Base
package import Traffic

/// Writes a dump of mitmproxy, in version 21 of its format: what mitmproxy 11 and later read.
///
/// A flow has every member that mitmproxy asks for and no other, as it refuses both. What has no
/// place there stands under `sallyport` in the flow's metadata, which mitmproxy keeps: out of it, an
/// import makes the same exchange again.
package struct MitmproxyExporter: CaptureExporter {
    package init() {}

    package func export(
        _ source: any TrafficSource, _ options: ExportOptions,
        to output: @escaping ([UInt8]) throws -> Void
    ) throws -> LossReport {
        var writer = MitmproxyWriter(source, options, to: output)
        try writer.write()
        return writer.losses
    }
}
