public import EideticCodecs
public import EideticCore

extension DecodeOptions: WireRecord {
    package static let layout = Layout(
        { Self() },
        setting: \.size,
        \.contentMode,
        \.appliesOrientation,
        \.convertsToSRGB,
        \.premultipliesAlpha,
        \.hasAllFrames,
        \.acceptsPartial,
        \.byteLimit,
        \.scale
    )

    private var hasAllFrames: Bool {
        get { frames == .all }
        set { frames = newValue ? .all : .first }
    }
}

extension ContentMode: WireRecord {
    @usableFromInline
    package static let layout = Layout<Self>(
        Case(0, fit),
        Case(1, fill),
        Case(2, { fillCropped(focus: $0) }) { if case .fillCropped(let focus) = $0 { focus } else { nil } },
        Case(3, stretch)
    )
}

extension CropFocus: WireRecord {
    @usableFromInline
    package static let layout = Layout<Self>(
        Case(0, content),
        Case(1, point) { if case .point(let x, let y) = $0 { (x, y) } else { nil } }
    )
}

extension DecodeLimits: WireRecord {
    @usableFromInline
    package static let layout = Layout(
        { Self() },
        setting: \.encodedBytes,
        \.pixels,
        \.sideLength,
        \.frames,
        \.animationBytes,
        \.duration
    )
}

extension PixelSize: WireRecord {
    @usableFromInline
    package static let layout = Layout(Self.init, \.width, \.height)
}

extension Layout<PixelSize> {
    /// The size of an image: sides of one pixel or more.
    static func size(upTo limit: Int) -> Self {
        Layout.value.validated { (1...limit).contains($0.width) && (1...limit).contains($0.height) }
    }
}

extension Layout<ImageFormat> {
    static var name: Self {
        Layout<String>.text(limit: 32).compactMap(to: { ImageFormat(rawValue: $0) }, from: \.rawValue)
    }
}
