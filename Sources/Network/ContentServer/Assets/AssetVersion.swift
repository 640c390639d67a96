internal import Base
internal import HTTPModel
internal import HTTPServer

/// One version of a generated asset, and what tells it apart from others.
package struct AssetVersion: Sendable, Equatable {
    package enum Growth: String, Sendable, CaseIterable { case same, bigger, smaller }

    /// What a response says of its version.
    package enum Mark: String, Sendable, CaseIterable {
        case both, etag, date, weak
    }

    /// Version 1 is the asset as its path names it.
    let number: UInt64
    var growth = Growth.same
    var mark = Mark.both
    /// From where on the bytes are those of the version, of an asset that is else version 1.
    var splice: FaultOffset?

    /// Whether its tag is its alone.
    var isNamed: Bool { splice == nil && mark != .date }

    static func read(
        _ arguments: inout FaultArguments, splice: FaultOffset?
    ) throws(FaultViolation) -> AssetVersion {
        var version = AssetVersion(number: try arguments.number("version", in: 1...1_000_000))
        version.splice = splice
        guard splice == nil else { return version }
        let marks = Mark.allCases.map(\.rawValue)
        let word = try arguments.word(of: Growth.allCases.map(\.rawValue) + marks)
        if let mark = word.flatMap(Mark.init) {
            version.mark = mark
        } else if let growth = word.flatMap(Growth.init) {
            version.growth = growth
            version.mark = try arguments.word(of: marks).flatMap(Mark.init) ?? .both
        }
        return version
    }

    /// The asset that this version of another is.
    func asset(of asset: GeneratedAsset) -> GeneratedAsset {
        guard number > 1 else { return asset }
        let seed = SplitMix.word(seed: asset.content.seed, number)
        let change = max(1, asset.size / 8)
        let size =
            switch growth {
            case .same: asset.size
            case .bigger: min(asset.size + change, UInt64(Int64.max))
            case .smaller: asset.size - min(change, asset.size)
            }
        return GeneratedAsset(seed: seed, size: size)
    }

    func representation(
        of asset: GeneratedAsset, contentType: String, _ draws: inout FaultDraws
    ) -> Representation {
        let version = self.asset(of: asset)
        if let splice {
            let place = splice.resolved(length: asset.size, &draws)
            let (first, second) = (asset.content, version.content)
            return Representation(
                contentType: contentType, length: asset.size,
                validators: asset.representation().validators
            ) { range in
                let middle = min(max(place, range.lowerBound), range.upperBound)
                return JoinedSource(
                    GeneratedSource(first, range: range.lowerBound..<middle),
                    GeneratedSource(second, range: middle..<range.upperBound))
            }
        }
        let plain = version.representation(contentType: contentType)
        let date = plain.validators.lastModified.map {
            HTTPDate(seconds: $0.seconds + Int64(number - 1) * 3600)
        }
        let tag = plain.validators.entityTag
        let validators =
            switch mark {
            case .both: Validators(entityTag: tag, lastModified: date)
            case .etag: Validators(entityTag: tag, lastModified: nil)
            case .date: Validators(entityTag: nil, lastModified: date)
            case .weak:
                Validators(
                    entityTag: tag.map { EntityTag($0.opaque.text, isWeak: true) },
                    lastModified: nil)
            }
        var representation = Representation(
            contentType: contentType, length: version.size, validators: validators,
            open: plain.open)
        representation.cacheControl = plain.cacheControl
        return representation
    }
}

/// Streams one source, and then another.
final class JoinedSource: ResponseBodySource {
    private var first: (any ResponseBodySource)?
    private let second: any ResponseBodySource

    init(_ first: any ResponseBodySource, _ second: any ResponseBodySource) {
        self.first = first
        self.second = second
    }

    func read(into buffer: ByteBuffer) async throws(ResponseInterruption) -> Int {
        if let first {
            let count = try await first.read(into: buffer)
            if count > 0 { return count }
            self.first = nil
        }
        return try await second.read(into: buffer)
    }

    var trailers: [ResponseField] { second.trailers }
}
