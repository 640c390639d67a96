internal import Base
internal import Contents
internal import Traffic

/// ECON-IMAGE: pictures that take more bytes than their pixels need.
enum ImageDetector {
    static func examine(_ view: ExchangeView) -> [RuleMatch] {
        let size = view.exchange.responseBody.size
        guard size >= leastSize, view.hasOriginResponse, view.exchange.status == 200,
            MediaType(view.responseType[...]).isMedia,
            let image = ImageSize(view.responseBody), image.pixelCount > 0,
            size > 2 * image.pixelCount
        else { return [] }
        var result = RuleMatch(.economyImage, .low, .firm)
        result.notes = [.measured(.image(width: image.width, height: image.height, bytes: size))]
        return [result]
    }

    /// In bytes: of small pictures most is what stands before the pixels.
    private static let leastSize: Int64 = 50_000
}

extension RuleText {
    static let economyImage = RuleText(
        title: "Picture takes more bytes than its pixels need",
        reason: "it takes time, money and battery without looking better",
        advice:
            "send photographs as JPEG, WebP or AVIF, and pictures at the size they are shown in",
        decision:
            "A PNG, JPEG, GIF or WebP picture of 50 kB or more has over two bytes for each of its"
            + " pixels.",
        exceptions:
            "Films in GIF or WebP have many pictures. At which size it is shown is not known here.",
        party: .origin, worst: .low,
        weaknesses: [])
}
