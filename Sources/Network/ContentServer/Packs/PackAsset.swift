internal import Base
internal import HTTPModel
internal import HTTPServer

/// One file of a pack.
struct PackAsset: Sendable {
    enum Kind: Sendable {
        case thumbnail
        case picture
        case text
        case sound
        case film

        var contentType: String {
            switch self {
            case .thumbnail: "image/png"
            case .picture: "image/jpeg"
            case .text: "application/json"
            case .sound: "audio/mp4"
            case .film: "video/mp4"
            }
        }
    }

    let name: String
    let kind: Kind
    /// From 1: the order in which they are needed.
    let level: Int
    /// The last version of the pack that changed it.
    let version: UInt64
    let device: String?
    let scale: Int?
    let language: String?
    let content: PackContent
    private let defects: Set<Pack.Defect>

    /// - Parameter side: of a picture, in pixels.
    init(
        _ pack: Pack, _ name: String, _ kind: Kind, level: Int, size: UInt64 = 0, side: Int = 0,
        device: String? = nil, scale: Int? = nil, language: String? = nil
    ) {
        self.name = name
        self.kind = kind
        self.level = level
        self.device = device
        self.scale = scale
        self.language = language
        defects = pack.defects
        let version = Self.lastChange(of: level, before: pack.version)
        self.version = version
        var seed = SplitMix.mix(pack.seed ^ version)
        for byte in name.utf8 { seed = SplitMix.mix(seed ^ UInt64(byte)) }
        content =
            switch kind {
            case .thumbnail: PackContent(PixelImage.png(color: seed))
            case .picture:
                .picture(
                    seed: seed, size: size, side: pack.defects.contains(.media) ? side / 4 : side)
            case .text: .text(seed: seed, size: size)
            case .sound: .media(seed: seed, size: size, brand: "M4A ")
            case .film: .media(seed: seed, size: size, brand: "isom")
            }
    }

    private init(_ other: PackAsset, named name: String) {
        self.name = name
        (kind, level, version) = (other.kind, other.level, other.version)
        (device, scale, language) = (other.device, other.scale, other.language)
        (content, defects) = (other.content, other.defects)
    }

    func copy(named name: String) -> PackAsset { PackAsset(self, named: name) }

    /// Version 2 changes level 1, version 3 level 2, and so on, round and round.
    private static func lastChange(of level: Int, before version: UInt64) -> UInt64 {
        let count = UInt64(Pack.levelCount)
        let first = UInt64(level) + 1
        return version < first ? 1 : first + (version - first) / count * count
    }

    /// What must be there before anything else, what is fetched ahead, and what waits until it is
    /// asked for.
    var policy: String {
        switch level {
        case _ where kind == .thumbnail: "essential"
        case 1: "essential"
        case 2...3: "prefetch"
        default: "on-demand"
        }
    }

    var entityTag: EntityTag { EntityTag("pack-1-\(content.name)") }

    func representation(compresses: Bool) -> Representation {
        let hidden = defects.contains(.cache) && kind != .text
        let content = content
        var representation = Representation(
            contentType: kind.contentType, length: content.size,
            validators: Validators(entityTag: hidden ? nil : entityTag, lastModified: nil)
        ) { range in
            PackSource(content, range: range)
        }
        if !hidden { representation.cacheControl = "public, max-age=31536000, immutable" }
        representation.isCompressed = compresses && kind == .text && !defects.contains(.text)
        return representation
    }
}
