internal import Base
package import Traffic

/// Writes HAR 1.2 (the HTTP Archive format), as exact as a capture is.
///
/// What the format has no place for stands in members that begin with `_`: those that HTTP Toolkit
/// and Chrome made known (`_tlsErrors`, `_webSocketMessages`, `_content`, `_trailers`), `_interim`,
/// and `_sallyport`, out of which an import makes the same capture again.
package struct HARExporter: CaptureExporter {
    package init() {}

    package func export(
        _ source: any TrafficSource, _ options: ExportOptions,
        to output: @escaping ([UInt8]) throws -> Void
    ) throws -> LossReport {
        var writer = HARWriter(source, options, to: output)
        try writer.write()
        return writer.losses
    }
}
