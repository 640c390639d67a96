internal import Base
internal import Contents

/// Media types by a file name's ending: those that web pages and apps fetch.
enum FileType {
    static let html = "text/html; charset=utf-8"
    static let json = "application/json"
    static let propertyList = "application/xml"

    /// The type that a file's name tells; `application/octet-stream` if it tells none.
    static func of(fileName: [UInt8]) -> String {
        guard let dot = fileName.lastIndex(of: UInt8(ascii: ".")) else { return unknown }
        return byEnding[fileName[(dot + 1)...].map(\.asciiLowercased).text] ?? unknown
    }

    private static let unknown = "application/octet-stream"

    private static let byEnding: [String: String] = [
        "avif": "image/avif", "bin": unknown, "css": "text/css; charset=utf-8",
        "csv": "text/csv; charset=utf-8", "gif": "image/gif", "gz": "application/gzip",
        "htm": html, "html": html, "ico": "image/vnd.microsoft.icon", "jpeg": "image/jpeg",
        "jpg": "image/jpeg", "js": "text/javascript; charset=utf-8", "json": json,
        "m3u8": "application/vnd.apple.mpegurl", "m4a": "audio/mp4", "map": json,
        "md": "text/markdown; charset=utf-8", "mjs": "text/javascript; charset=utf-8",
        "mobileconfig": ConfigurationProfile.mediaType, "mp3": "audio/mpeg",
        "mp4": "video/mp4", "mpd": "application/dash+xml",
        "pac": ProxyScript.mediaType, "pdf": "application/pdf", "plist": propertyList,
        "png": "image/png",
        "svg": "image/svg+xml", "tar": "application/x-tar", "ts": "video/mp2t",
        "txt": "text/plain; charset=utf-8", "wasm": "application/wasm", "webm": "video/webm",
        "webmanifest": "application/manifest+json", "webp": "image/webp", "woff": "font/woff",
        "woff2": "font/woff2", "xml": "application/xml", "zip": "application/zip",
    ]
}
