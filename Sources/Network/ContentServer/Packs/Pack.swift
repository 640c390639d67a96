internal import Base
internal import HTTPServer

/// A pack of assets made from a seed: what an app downloads after it is installed.
///
/// The pictures, sounds and films look like such by their heads and types, and hold noise.
struct Pack: Sendable {
    /// What is wrong on purpose, for whoever takes an inventory.
    enum Defect: String, CaseIterable {
        /// The same content under several names.
        case duplicates
        /// Text is never compressed.
        case text
        /// Pictures take more bytes than their pixels need.
        case media
        /// Pictures, sounds and films have nothing for caches.
        case cache
    }

    let seed: UInt64
    /// From 1; each changes the assets of one level.
    let version: UInt64
    let defects: Set<Defect>
    /// The size of one asset more, in bytes; `nil` for none.
    let largeSize: UInt64?

    /// Reads `/packs/<seed>` with `?version=`, `?defects=` and `?large=`; `nil` if one is malformed.
    init?(_ request: ServerRequest) {
        guard let seed = request.match.number("seed") else { return nil }
        self.seed = seed
        let path = request.path
        guard let version = decimal(path.queryValue("version") ?? [0x31]), version > 0 else {
            return nil
        }
        self.version = version
        var defects: Set<Defect> = []
        for word in (path.queryValue("defects") ?? []).split(separator: 0x2C, maxSplits: 8) {
            guard let defect = Defect(rawValue: word.text) else { return nil }
            defects.insert(defect)
        }
        self.defects = defects
        guard let large = path.queryValue("large") else {
            largeSize = nil
            return
        }
        guard let size = GeneratedAsset.size(large) else { return nil }
        largeSize = size
    }

    /// The query by which an asset of this pack is asked for.
    func query(_ asset: PackAsset) -> String {
        var items = ["version=\(asset.version)"]
        if !defects.isEmpty {
            items.append("defects=" + defects.map(\.rawValue).sorted().joined(separator: ","))
        }
        if asset.name == Self.largeName, let largeSize { items.append("large=\(largeSize)") }
        return items.joined(separator: "&")
    }

    var assets: [PackAsset] {
        var assets = (1...Self.levelCount).flatMap(level)
        if defects.contains(.duplicates) {
            assets += assets.filter { $0.kind == .picture && $0.level == 1 }.map {
                $0.copy(named: "old/" + $0.name)
            }
        }
        if let largeSize {
            assets.append(
                PackAsset(
                    self, Self.largeName, .film, level: Self.levelCount, size: largeSize))
        }
        return assets
    }

    func asset(named name: [UInt8]) -> PackAsset? {
        assets.first { $0.name.utf8.elementsEqual(name) }
    }

    private func level(_ level: Int) -> [PackAsset] {
        let folder = "level-\(level)/"
        var assets = [PackAsset(self, folder + "map.thumbnail.png", .thumbnail, level: level)]
        for (device, scale) in [("phone", 2), ("phone", 3), ("tablet", 2)] {
            let side = (device == "phone" ? 128 : 256) * scale
            assets.append(
                PackAsset(
                    self, folder + "map.\(device)@\(scale)x.jpg", .picture, level: level,
                    size: UInt64(side * side / 2), side: side, device: device, scale: scale))
        }
        for language in ["de", "en", "ja"] {
            assets.append(
                PackAsset(
                    self, folder + "story.\(language).json", .text, level: level,
                    size: PackContent.textSize(lines: 400), language: language))
        }
        assets.append(
            PackAsset(self, folder + "theme.m4a", .sound, level: level, size: 240_000))
        assets.append(
            PackAsset(self, folder + "intro.mp4", .film, level: level, size: 600_000))
        return assets
    }

    static let levelCount = 5
    private static let largeName = "extra/film.mp4"
}
