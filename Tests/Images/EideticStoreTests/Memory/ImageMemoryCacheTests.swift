import EideticCore
import EideticStore
import EideticTestSupport
import Synchronization
import Testing

@Suite("Images in memory", .timeLimit(.minutes(1)))
struct ImageMemoryCacheTests {
    private let base = CacheKey("http://example.org/a.jpg")

    private func image(width: Int, height: Int, of source: PixelSize = .init(width: 400, height: 300)) throws
        -> Image
    {
        let size = PixelSize(width: width, height: height)
        let pixels = try PixelBuffer(size: size, alpha: .opaque) { memory, _ throws(EideticError) in
            memory.initializeMemory(as: UInt8.self, repeating: 7)
        }
        return Image(frames: [Image.Frame(pixels: pixels)], format: .jpeg, sourceSize: source)
    }

    private func key(_ text: String) -> CacheKey { CacheKey("http://example.org/a.jpg|\(text)") }

    @Test("C02 a larger decode of the same image serves a request for a smaller one")
    func findsLargerDecode() throws {
        let cache = ImageMemoryCache(costLimit: .mebibytes(10))
        cache.insert(try image(width: 400, height: 300), for: key("full"), base: base)
        cache.insert(try image(width: 200, height: 150), for: key("200"), base: base)
        cache.insert(try image(width: 40, height: 30), for: key("40"), base: base)
        let square = PixelSize(width: 100, height: 100)
        #expect(cache.image(for: key("fit"), base: base, size: square)?.size.width == 200)
        let wide = PixelSize(width: 180, height: 150)
        #expect(cache.image(for: key("fill"), base: base, size: wide, mode: .fill)?.size.width == 200)
        let tall = PixelSize(width: 180, height: 160)
        #expect(cache.image(for: key("fill 2"), base: base, size: tall, mode: .fill)?.size.width == 400)
        #expect(cache.image(for: key("own"), base: base, size: nil)?.size.width == 400)
        #expect(cache.image(for: key("own"), base: CacheKey("b"), size: nil) == nil)
    }

    @Test("C02 an image above the limit of one is not kept, nor what it replaces; the next smaller one is")
    func imageLimit() throws {
        let small = try image(width: 40, height: 30), large = try image(width: 41, height: 30)
        let cache = ImageMemoryCache(costLimit: .mebibytes(10), imageLimit: small.cost, time: ManualTime())
        cache.insert(small, for: key("own"), base: base)
        #expect(cache.image(for: key("own"))?.size == small.size)
        cache.insert(large, for: key("own"), base: base)
        #expect(cache.image(for: key("own")) == nil)
        #expect(cache.image(for: key("fit"), base: base, size: PixelSize(width: 20, height: 15)) == nil)
    }

    @Test("C16 images without a time to live have that of the cache")
    func defaultTimeToLive() throws {
        let time = ManualTime()
        let cache = ImageMemoryCache(costLimit: .mebibytes(10), timeToLive: .seconds(60), time: time)
        cache.insert(try image(width: 40, height: 30), for: key("default"))
        cache.insert(try image(width: 40, height: 30), for: key("own"), timeToLive: .seconds(90))
        time.advance(by: .seconds(59))
        #expect(cache.image(for: key("default")) != nil)
        time.advance(by: .seconds(1))
        #expect(cache.image(for: key("default")) == nil && cache.image(for: key("own")) != nil)
        time.advance(by: .seconds(30))
        #expect(cache.image(for: key("own")) == nil)
    }

    @Test("C02 F04 a cropped decode serves no other request, is no placeholder, and is removed with the others")
    func croppedDecodes() throws {
        let cache = ImageMemoryCache(costLimit: .mebibytes(10)), small = PixelSize(width: 100, height: 75)
        cache.insert(try image(width: 300, height: 300), for: key("fill"), base: base, isCropped: true)
        #expect(cache.image(for: key("fit"), base: base, size: small) == nil)
        #expect(cache.largestImage(forBase: base) == nil)
        cache.insert(try image(width: 200, height: 150), for: key("200"), base: base)
        #expect(cache.image(for: key("fit"), base: base, size: small)?.size.width == 200)
        #expect(cache.largestImage(forBase: base)?.size.width == 200)
        cache.removeAll(forBase: base)
        #expect(cache.image(for: key("fill")) == nil)
    }

    @Test("C02 a smaller or partial decode does not serve a request for a larger one")
    func refusesSmaller() throws {
        let cache = ImageMemoryCache(costLimit: .mebibytes(10))
        cache.insert(try image(width: 200, height: 150), for: key("200"), base: base)
        let full = try image(width: 400, height: 300)
        let partial = Image(frames: full.frames, format: .jpeg, sourceSize: full.size, isPartial: true)
        cache.insert(partial, for: key("partial"), base: base)
        #expect(cache.image(for: key("300"), base: base, size: PixelSize(width: 300, height: 300)) == nil)
        #expect(cache.image(for: key("own"), base: base, size: nil) == nil)
        #expect(cache.largestImage(forBase: base)?.size.width == 200)
    }

    @Test("C02 a vector image in one size serves no other size, and is its placeholder")
    func drawsAnew() throws {
        let cache = ImageMemoryCache(costLimit: .mebibytes(10)), pixels = try image(width: 200, height: 150)
        let drawn = Image(frames: pixels.frames, format: .svg, sourceSize: PixelSize(width: 20, height: 15))
        cache.insert(drawn, for: key("200"), base: base)
        for width in [100, 400] {
            #expect(cache.image(for: key("\(width)"), base: base, size: PixelSize(width: width, height: width)) == nil)
        }
        #expect(cache.largestImage(forBase: base)?.size.width == 200)
        cache.removeAll(forBase: base)
        #expect(cache.image(for: key("200")) == nil)
    }

    @Test("L23 any decode of an image can be its placeholder")
    func findsAny() throws {
        let cache = ImageMemoryCache(costLimit: .mebibytes(10))
        #expect(cache.largestImage(forBase: base) == nil)
        cache.insert(try image(width: 40, height: 30), for: key("40"), base: base)
        cache.insert(try image(width: 200, height: 150), for: key("200"), base: base)
        #expect(cache.largestImage(forBase: base)?.size.width == 200)
        cache.images.remove(key("200"))
        #expect(cache.largestImage(forBase: base)?.size.width == 40)
    }

    @Test("C21 a visible image is still found after the background emptied the cache")
    func staysFindable() throws {
        let cache = ImageMemoryCache(costLimit: .mebibytes(10))
        let shown = try image(width: 40, height: 30)
        cache.insert(shown, for: key("40"), base: base)
        cache.insert(try image(width: 400, height: 300), for: key("full"), base: base)
        cache.enterBackground()
        #expect(cache.images.totalCost == .zero)
        #expect(cache.image(for: key("40"))?.pixels === shown.pixels)
        #expect(cache.image(for: key("full")) == nil)
        #expect(cache.images.totalCost == shown.cost)
    }

    @Test("C21 the background shrinks the cache or leaves it unchanged, as configured")
    func shrinksInBackground() throws {
        let cache = ImageMemoryCache(costLimit: .mebibytes(10))
        for number in 0..<10 { cache.insert(try image(width: 10, height: 10), for: key("\(number)")) }
        cache.enterBackground(behavior: .keepAll)
        #expect(cache.images.count == 10)
        cache.enterBackground(behavior: .shrink(toFraction: 0.5))
        #expect(cache.images.count == 5)
    }

    @Test("C02 C21 the cache observes the application's phases and its memory pressure")
    func followsEnvironment() async throws {
        let environment = TestEnvironment()
        let (stream, reached) = AsyncStream.makeStream(of: MemoryRemovalReason.self)
        var hooks = MemoryHooks<Image>()
        hooks.didRemove = { _, _, reason in reached.yield(reason) }
        let cache = ImageMemoryCache(costLimit: .mebibytes(10), hooks: hooks)
        cache.observe(environment)
        for number in 0..<4 { cache.insert(try image(width: 10, height: 10), for: key("\(number)")) }
        var removals = stream.makeAsyncIterator()
        environment.pressureContinuation.yield(.warning)
        for _ in 0..<2 { #expect(await removals.next() == .pressure) }
        #expect(cache.images.count == 2)
        environment.phaseContinuation.yield(.background)
        for _ in 0..<2 { #expect(await removals.next() == .pressure) }
        #expect(cache.images.count == 0)
    }

    @Test("C22 below the watermark other images are evicted before one from disk is inserted")
    func makesRoom() throws {
        let available = Mutex(1_000_000)
        let time = ManualTime()
        let availableMemory = AvailableMemory(time: time) { ByteCount(available.withLock { $0 }) }
        let images = MemoryCache<Image>(costLimit: .mebibytes(10), tracking: .images, time: time)
        let cache = ImageMemoryCache(images: images, watermark: 100_000, availableMemory: availableMemory)
        for number in 0..<10 { cache.insertFromDisk(try image(width: 10, height: 10), for: key("\(number)")) }
        #expect(images.totalCost == 4_000)
        available.withLock { $0 = 99_000 }
        time.advance(by: .milliseconds(249))
        cache.insertFromDisk(try image(width: 10, height: 10), for: key("a"))
        #expect(images.totalCost == 4_400)
        time.advance(by: .milliseconds(1))
        cache.insertFromDisk(try image(width: 10, height: 10), for: key("b"))
        #expect(images.totalCost == 3_200)
        #expect(images.contains(key("b")))
    }
}

/// An application environment that a test controls.
private final class TestEnvironment: ApplicationEnvironment {
    let phases: AsyncStream<ApplicationPhase>
    let phaseContinuation: AsyncStream<ApplicationPhase>.Continuation
    let memoryPressure: AsyncStream<MemoryPressure>
    let pressureContinuation: AsyncStream<MemoryPressure>.Continuation

    init() {
        (phases, phaseContinuation) = AsyncStream.makeStream()
        (memoryPressure, pressureContinuation) = AsyncStream.makeStream()
    }

    func beginBackgroundTask(
        named name: String,
        expirationHandler: @escaping @Sendable () -> Void
    ) -> BackgroundTaskIdentifier { .invalid }

    func endBackgroundTask(_ identifier: BackgroundTaskIdentifier) {}
}
