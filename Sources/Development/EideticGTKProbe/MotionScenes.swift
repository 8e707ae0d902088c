#if GTK
import CGTK
import Eidetic
import EideticCore
import EideticFetch
import EideticGTK
import EideticTestSupport

extension Scenes {
    /// Fades one image into another; there is no transition for an image in memory, nor without motion.
    static func transition(_ stage: Stage) async throws {
        let widget = stage.add(gtk_picture_new())
        await stage.present()
        let view = ImageWidget(widget, pipeline: stage.pipeline)
        let red = try stage.serve("red.png", colour: .red)
        let blue = try stage.serve("blue.png", colour: .blue)
        let green = try stage.serve("green.png", colour: .green)
        try await view.show(ImageRequest(red))
        // Longer than a screenshot takes; another image ends it.
        var slow = ImageSlot.Presentation(
            transition: .crossFade(.seconds(8)),
            keepsCurrentImage: true,
            completesAfterTransition: true
        )
        var isOver = false
        view.setImage(ImageRequest(blue), presentation: slow) { _ in isOver = true }
        var mixed: Colour?
        while !isOver, mixed == nil {
            let colour = try await stage.screenshot()[50, 50]
            if !colour.looks(like: .red, within: 20), !colour.looks(like: .blue, within: 20) { mixed = colour }
        }
        stage.expect(mixed != nil, otherwise: "no mixture of red and blue was visible")
        var quick = slow
        quick.transition = .crossFade(.milliseconds(200))
        var isFinished = false
        view.setImage(ImageRequest(green), presentation: quick) { _ in isFinished = true }
        await stage.wait(for: "the end of the transition") { isFinished }
        await stage.waitForFrames(2)
        stage.expect(try await stage.screenshot()[50, 50], looksLike: .green, "after the transition")
        isFinished = false
        view.setImage(ImageRequest(red), presentation: slow) { _ in isFinished = true }
        stage.expect(isFinished, otherwise: "an image in memory must not wait for a transition")
        Motion.isAllowed = false
        isFinished = false
        slow.transitionsFromMemory = true
        view.setImage(ImageRequest(blue), presentation: slow) { _ in isFinished = true }
        stage.expect(isFinished, otherwise: "without motion there is no transition")
        Motion.isAllowed = true
    }

    /// Shows a turning spinner and a filling ring over the placeholder until the image is loaded.
    static func indicators(_ stage: Stage) async throws {
        let spinning = stage.add(gtk_picture_new())
        let filling = stage.add(gtk_picture_new())
        let placeholder = try Image.plain(.blue)
        await stage.present()
        let noise = try stage.noise(), gates = [Gate(), Gate()]
        let origin = try ScriptedOrigin { _ in
            [
                .head(200, headers: ["Content-Length": "\(noise.count)", "Content-Type": "image/png"]),
                .send(Array(noise[..<5_000])), .wait(gates[0]), .send(Array(noise[5_000..<15_000])), .wait(gates[1]),
            ]
        }
        let slow = origin.url + "/slow.png"
        let views = [spinning, filling].map { ImageWidget($0, pipeline: stage.pipeline) }
        var received = 0
        views[0].setImage(ImageRequest(slow), presentation: .init(placeholder: placeholder, indicator: .spinner))
        views[1].setImage(
            ImageRequest(slow),
            presentation: .init(placeholder: placeholder, indicator: .progress),
            progress: { received = $0.received }
        )
        await stage.wait(for: "progress") { received > 4_000 }
        await stage.waitForFrames(2)
        let first = try await stage.screenshot()
        stage.expect(first[5, 5], looksLike: .blue, "the placeholder")
        stage.expect(
            !first[50, 50].looks(like: .blue, within: 30),
            otherwise: "the indicator's ground: \(first[50, 50])"
        )
        gates[0].open()
        await stage.wait(for: "more progress") { received > 14_000 }
        await stage.waitForFrames(2)
        let second = try await stage.screenshot()
        stage.expect(first.ring(x: 50, y: 50) != second.ring(x: 50, y: 50), otherwise: "the spinner does not turn")
        let bright = (
            first.ring(x: 150, y: 50).count(where: \.isBright), second.ring(x: 150, y: 50).count(where: \.isBright)
        )
        stage.expect(bright.0 < bright.1, otherwise: "the ring does not fill: \(bright)")
        for view in views { view.cancel() }
        await stage.waitForFrames(2)
        let third = try await stage.screenshot()
        stage.expect(
            third[50, 50].looks(like: .blue) && third[150, 50].looks(like: .blue),
            otherwise: "the indicators stay"
        )
    }

    /// Plays an animation: in its order, at the set speed, as often as set, and only while the widget is visible.
    static func animation(_ stage: Stage) async throws {
        let colours: [Colour] = [.red, .green, .blue]
        let url = try stage.serve("a.gif", colours: colours, frameDuration: .milliseconds(100))
        let widget = stage.add(gtk_picture_new())
        let secondWidget = stage.add(gtk_picture_new())
        await stage.present()
        let view = ImageWidget(widget, pipeline: stage.pipeline)
        let log = TextureLog(widget)
        let response = try await view.show(ImageRequest(url, size: PixelSize(width: 64, height: 64)))
        let frameCount = response.image.animation?.frameCount
        stage.expect(frameCount, is: 3, "frames")
        // A player leaves out frames that are late.
        await stage.wait(for: "seven frames in their order") { log.record() >= 7 && log.isCyclic(frameCount: 3) }
        // The same image in another widget uses the same textures.
        ImageWidget(secondWidget, pipeline: stage.pipeline).setImage(
            ImageRequest(url, size: PixelSize(width: 64, height: 64))
        )
        let secondLog = TextureLog(secondWidget)
        secondLog.record()
        stage.expect(Set(log.textures).isSuperset(of: secondLog.textures), otherwise: "a texture of its own")
        gtk_widget_set_visible(widget, 0)
        let before = log.record()
        for _ in 0..<40 { await FrameClock.waitForFrame(of: secondWidget) }
        stage.expect(log.record(), is: before, "it plays while hidden")
        gtk_widget_set_visible(widget, 1)
        await stage.wait(for: "it plays on") { log.record() > before + 2 }
        view.setAnimationPlayback(AnimationPlayback(speed: 1_000, loops: .times(1)))
        await stage.wait(for: "the last frame") { log.record() > 0 && log.isBlue }
        let count = log.record()
        await stage.waitForFrames(30)
        stage.expect(log.record(), is: count, "it continues after its last loop")
        try await view.show(ImageRequest(url, size: PixelSize(width: 64, height: 64), options: .firstFrameOnly))
        let still = log.record()
        await stage.waitForFrames(30)
        stage.expect(log.record(), is: still, "the first frame only")
    }

    /// Scrolls an animation out of sight and back: it plays only while a part of it can be seen.
    static func scrolledAnimation(_ stage: Stage) async throws {
        let scrolled = stage.add(gtk_scrolled_window_new(), width: 200, height: 200)
        let column = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0)
        guard let widget = gtk_picture_new(), let filler = gtk_picture_new() else { return }
        gtk_widget_set_size_request(widget, 100, 100)
        gtk_widget_set_size_request(filler, 100, 5_000)
        for child in [widget, filler] { gtk_box_append(UnsafeMutablePointer(OpaquePointer(column)), child) }
        gtk_scrolled_window_set_child(OpaquePointer(scrolled), column)
        await stage.present()
        let view = ImageWidget(widget, pipeline: stage.pipeline)
        let log = TextureLog(widget)
        let url = try stage.serve("a.gif", colours: [.red, .green, .blue], frameDuration: .milliseconds(50))
        try await view.show(ImageRequest(url, size: PixelSize(width: 64, height: 64)))
        await stage.wait(for: "four frames") { log.record() >= 4 }
        let adjustment = gtk_scrolled_window_get_vadjustment(OpaquePointer(scrolled))
        for _ in 0..<2 {
            // All but its last rows, and then all of it.
            gtk_adjustment_set_value(adjustment, 99)
            let partly = log.record()
            await stage.wait(for: "it plays while a part is seen") { log.record() > partly + 3 }
            gtk_adjustment_set_value(adjustment, 100)
            await stage.waitForFrames(10)
            let before = log.record()
            for _ in 0..<40 { await FrameClock.waitForFrame(of: filler) }
            stage.expect(log.record(), is: before, "it plays out of sight")
            gtk_adjustment_set_value(adjustment, 0)
            await stage.wait(for: "it plays on") { log.record() > before + 3 }
        }
        gtk_adjustment_set_value(adjustment, 3_000)
        await stage.waitForFrames(10)
        let before = log.record()
        gtk_widget_set_visible(widget, 0)
        gtk_adjustment_set_value(adjustment, 0)
        gtk_widget_set_visible(widget, 1)
        await stage.wait(for: "it plays when it is shown again") { log.record() > before + 3 }
    }

    /// Forbids and allows motion: an animation shows its first frame, and then plays.
    static func motion(_ stage: Stage) async throws {
        let url = try stage.serve("a.gif", colours: [.red, .green, .blue], frameDuration: .milliseconds(50))
        let widget = stage.add(gtk_picture_new())
        await stage.present()
        Motion.isAllowed = false
        let view = ImageWidget(widget, pipeline: stage.pipeline)
        let log = TextureLog(widget)
        try await view.show(ImageRequest(url))
        await stage.waitForFrames(30)
        stage.expect(log.record(), is: 1, "it plays")
        stage.expect(try await stage.screenshot()[50, 50], looksLike: .red, "not the first frame")
        Motion.isAllowed = true
        await stage.wait(for: "it plays") { log.record() > 4 }
        Motion.isAllowed = false
        await stage.waitForFrames(2)
        let count = log.record()
        await stage.waitForFrames(30)
        stage.expect(log.record() <= count + 1, otherwise: "it plays on")
        stage.expect(try await stage.screenshot()[50, 50], looksLike: .red, "not back at the first frame")
    }

    /// Hides a widget: the priority of its load is lowered, and the load continues.
    static func hidden(_ stage: Stage) async throws {
        let widget = stage.add(gtk_picture_new())
        await stage.present()
        let view = ImageWidget(widget, pipeline: stage.pipeline)
        view.setImage(ImageRequest(try stage.serveSlow(), priority: .high))
        stage.expect(view.task()?.priority, is: .high)
        gtk_widget_set_visible(widget, 0)
        stage.expect(view.task()?.priority, is: .low)
        gtk_widget_set_visible(widget, 1)
        stage.expect(view.task()?.priority, is: .high)
        view.cancel()
    }

    /// Scrolls a window while the shared pipeline is replaced: loads of the new one wait, those of the old one do not.
    static func scrollingShared(_ stage: Stage) async throws {
        let scrolled = stage.add(gtk_scrolled_window_new(), width: 200, height: 200)
        let tall = gtk_picture_new()
        gtk_widget_set_size_request(tall, 100, 5_000)
        gtk_scrolled_window_set_child(OpaquePointer(scrolled), tall)
        ScrollObserver.observe(OpaquePointer(scrolled))
        await stage.present()
        let adjustment = gtk_scrolled_window_get_vadjustment(OpaquePointer(scrolled))
        let (old, new) = (stage.pipeline, ImagePipeline(.init()))
        ImagePipeline.shared = old
        gtk_adjustment_set_value(adjustment, 10)
        stage.expect(old.isUserInteracting, otherwise: "not scrolling")
        ImagePipeline.shared = new
        gtk_adjustment_set_value(adjustment, 20)
        stage.expect(new.isUserInteracting && !old.isUserInteracting, otherwise: "the old pipeline waits")
        await stage.wait(for: "the end of scrolling") { !new.isUserInteracting }
        stage.expect(!old.isUserInteracting, otherwise: "still scrolling")
    }

    /// Scrolls a window: loads of low priority wait until it stops.
    static func scrolling(_ stage: Stage) async throws {
        let scrolled = stage.add(gtk_scrolled_window_new(), width: 200, height: 200)
        let tall = gtk_picture_new()
        gtk_widget_set_size_request(tall, 100, 5_000)
        gtk_scrolled_window_set_child(OpaquePointer(scrolled), tall)
        ScrollObserver.observe(OpaquePointer(scrolled), pipeline: stage.pipeline)
        let widget = stage.add(gtk_picture_new())
        await stage.present()
        let url = try stage.serve("red.png", colour: .red)
        let adjustment = gtk_scrolled_window_get_vadjustment(OpaquePointer(scrolled))
        // A busy machine may take longer for a frame than scrolling usually takes to end.
        let usualTime = ScrollObserver.settleTime
        ScrollObserver.settleTime = 3_000
        defer { ScrollObserver.settleTime = usualTime }
        gtk_adjustment_set_value(adjustment, 10)
        var isShown = false
        ImageWidget(widget, pipeline: stage.pipeline).setImage(ImageRequest(url, priority: .low)) { _ in isShown = true
        }
        for step in 0..<20 {
            gtk_adjustment_set_value(adjustment, Double(20 + step))
            await stage.waitForFrames(1)
        }
        stage.expect(!isShown && stage.pipeline.isUserInteracting, otherwise: "it was loaded while scrolling")
        await stage.wait(for: "the load after scrolling") { isShown }
        stage.expect(!stage.pipeline.isUserInteracting, otherwise: "still scrolling")
    }

    /// Drags in a scrolled window that the program does not observe: loads of low priority wait until the end.
    static func dragging(_ stage: Stage) async throws {
        let scrolled = stage.add(gtk_scrolled_window_new(), width: 400, height: 400)
        let widget = gtk_picture_new()
        gtk_widget_set_size_request(widget, 100, 5_000)
        gtk_scrolled_window_set_child(OpaquePointer(scrolled), widget)
        guard let widget else { return }
        let view = ImageWidget(widget, pipeline: stage.pipeline)
        await stage.present()
        view.setImage(ImageRequest(try stage.serve("red.png", colour: .red)))
        await stage.wait(for: "the first image") { stage.pipeline.isIdle }
        try await stage.mouse("mousemove --window %1 100 100 mousedown 1")
        try await stage.mouse("mousemove_relative 0 40 mousemove_relative 0 40")
        await stage.wait(for: "the drag") { stage.pipeline.isUserInteracting }
        var isShown = false
        view.setImage(ImageRequest(try stage.serve("blue.png", colour: .blue), priority: .low)) { _ in isShown = true }
        // Longer than the time after which scrolling without a drag has ended.
        await stage.waitForFrames(60)
        stage.expect(!isShown && stage.pipeline.isUserInteracting, otherwise: "it was loaded while the button was held")
        try await stage.mouse("mouseup 1")
        await stage.wait(for: "the load after the drag") { isShown }
        stage.expect(!stage.pipeline.isUserInteracting, otherwise: "still dragging")
    }
}

/// GTK's setting for animations.
@MainActor
enum Motion {
    static var isAllowed: Bool {
        get { false }
        set {
            guard let settings = gtk_settings_get_default() else { return }
            eidetic_set_boolean(UnsafeMutableRawPointer(settings), "gtk-enable-animations", newValue ? 1 : 0)
        }
    }
}

/// The textures that a `GtkPicture` has shown, one after the other.
@MainActor
final class TextureLog {
    private let widget: UnsafeMutablePointer<GtkWidget>
    private(set) var textures: [UnsafeMutableRawPointer] = []

    init(_ widget: UnsafeMutablePointer<GtkWidget>) {
        self.widget = widget
        g_object_ref(widget)
        Self.startRecording(self)
    }

    isolated deinit { g_object_unref(widget) }

    private static func startRecording(_ log: TextureLog) {
        gtk_widget_add_tick_callback(
            log.widget,
            { _, _, log in
                // Safe to send: GTK calls this on the main thread, which is checked.
                nonisolated(unsafe) let log = log
                MainActor.assumeIsolated {
                    if let log { _ = Unmanaged<TextureLog>.fromOpaque(log).takeUnretainedValue().record() }
                }
                return 1
            },
            Unmanaged.passRetained(log).toOpaque(),
            { log in if let log { Unmanaged<TextureLog>.fromOpaque(log).release() } }
        )
    }

    /// Records the current texture, and returns the number of changes so far.
    @discardableResult
    func record() -> Int {
        guard let texture = currentTexture.map({ UnsafeMutableRawPointer($0) }) else { return textures.count }
        if textures.last != texture { textures.append(texture) }
        return textures.count
    }

    /// The texture that is shown.
    var currentTexture: OpaquePointer? {
        gtk_picture_get_paintable(OpaquePointer(widget)).flatMap {
            eidetic_paintable_image(UnsafeMutableRawPointer($0))
        }
    }

    /// Returns `true` if the last frames repeat a cycle of `frameCount` textures.
    func isCyclic(frameCount count: Int) -> Bool {
        let cycle = textures.suffix(2 * count)
        return Set(cycle).count == count && zip(cycle, cycle.dropFirst(count)).allSatisfy { $0 == $1 }
    }

    /// A Boolean value indicating whether a blue frame is shown.
    var isBlue: Bool {
        guard let texture = currentTexture else { return false }
        var pixels = [UInt8](repeating: 0, count: 64 * 64 * 4)
        gdk_texture_download(texture, &pixels, 64 * 4)
        let colour = Colour(red: pixels[2], green: pixels[1], blue: pixels[0])
        return colour.looks(like: .blue, within: 12)
    }
}

extension Colour {
    /// A Boolean value indicating whether the pixel belongs to the bright part of an indicator's ring.
    var isBright: Bool { Int(red) + Int(green) + Int(blue) > 600 }
}

extension Screenshot {
    /// Returns the pixels on the ring of an indicator whose centre is at a place.
    func ring(x: Int, y: Int) -> [Colour] {
        var colours: [Colour] = []
        for dy in -18...18 {
            for dx in -18...18 where (196...324).contains(dx * dx + dy * dy) { colours.append(self[x + dx, y + dy]) }
        }
        return colours
    }
}
#endif
