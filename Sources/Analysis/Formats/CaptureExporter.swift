package import Traffic

/// Writes recorded traffic in the format of another tool.
package protocol CaptureExporter {
    /// Writes what the options want of `source`, in pieces as it is read: of the session it holds
    /// one exchange at a time, and of a content a bounded part.
    ///
    /// Errors: those of the source and of `output`.
    ///
    /// - Returns: what the format could not keep.
    func export(
        _ source: any TrafficSource, _ options: ExportOptions,
        to output: @escaping ([UInt8]) throws -> Void
    ) throws -> LossReport
}

/// What is exported, and what of it is shown.
package struct ExportOptions {
    /// Whether secrets are written as they were recorded, and key material at all.
    package var withSecrets = false
    /// Which exchanges are wanted, with the connections that they came on; `nil` for everything
    /// that was recorded, connections without an exchange too.
    package var includes: ((ExchangeRecord) throws -> Bool)?
    /// Told how many exchanges were passed, wanted or not.
    package var progress: (Int64) throws -> Void = { _ in }
    /// Called between the pieces of a content, which may take long; an error of it ends the export.
    package var checkpoint: () throws -> Void = {}
    /// The version of the tool that the export names as its creator.
    package var creatorVersion = ""

    package init() {}
}
