#if GTK
import CGTK
import Eidetic
import EideticCore
import EideticGTK

extension Scenes {
    /// One picture fades into the other; not where it was in memory, and not where the user wants no motion.
    static func transition(_ stage: Stage) async throws {
        let widget = stage.add(gtk_picture_new())
        await stage.present()
        let view = ImageWidget(widget, pipeline: stage.pipeline)
        let red = try stage.put("red.png", .red), blue = try stage.put("blue.png", .blue)
        try await view.show(red)
        var isOver = false
        let slow = ImageSlot.Presentation(transition: .crossFade(.seconds(6)))
        let options: ImageOptions = [.waitTransition, .keepCurrentImage]
        view.setImage(blue, options: options, presentation: slow) { _ in isOver = true }
        var mixed: Colour?
        while !isOver, mixed == nil {
            let colour = try await stage.screenshot()[50, 50]
            if !colour.looks(like: .red, within: 20), !colour.looks(like: .blue, within: 20) { mixed = colour }
        }
        stage.expect(mixed != nil && !isOver, "nothing was seen between red and blue")
        await stage.until("the end of the transition") { isOver }
        await stage.frames(2)
        stage.expect(try await stage.screenshot()[50, 50].looks(like: .blue), "after the transition")
        isOver = false
        view.setImage(red, options: options, presentation: slow) { _ in isOver = true }
        stage.expect(isOver, "a picture in memory waits for no transition")
        Motion.isAllowed = false
        isOver = false
        view.setImage(blue, options: options.union(.forceTransition), presentation: slow) { _ in isOver = true }
        stage.expect(isOver, "without motion there is no transition")
        Motion.isAllowed = true
    }

    /// The spinner turns and the ring fills, over the placeholder, until the picture is there.
    static func indicators(_ stage: Stage) async throws {
        let spinning = stage.add(gtk_picture_new()), filling = stage.add(gtk_picture_new())
        let placeholder = try Image.plain(.blue)
        await stage.present()
        let slow = try stage.putSlow()
        let views = [spinning, filling].map { ImageWidget($0, pipeline: stage.pipeline) }
        var received = 0
        views[0].setImage(slow, placeholder: placeholder, presentation: .init(indicator: .spinner))
        views[1].setImage(
            slow,
            placeholder: placeholder,
            presentation: .init(indicator: .progress),
            progress: { received = $0.received },
            completion: nil
        )
        await stage.until("progress") { received > 4_000 }
        await stage.frames(2)
        let first = try await stage.screenshot()
        stage.expect(first[5, 5].looks(like: .blue), "the placeholder: \(first[5, 5])")
        stage.expect(!first[50, 50].looks(like: .blue, within: 30), "the indicator's ground: \(first[50, 50])")
        await stage.until("more progress") { received > 14_000 }
        await stage.frames(2)
        let second = try await stage.screenshot()
        stage.expect(first.ring(50, 50) != second.ring(50, 50), "the spinner stands still")
        let bright = (first.ring(150, 50).count(where: \.isBright), second.ring(150, 50).count(where: \.isBright))
        stage.expect(bright.0 < bright.1, "the ring does not fill: \(bright)")
        for view in views { view.cancel() }
        await stage.frames(2)
        let third = try await stage.screenshot()
        stage.expect(third[50, 50].looks(like: .blue) && third[150, 50].looks(like: .blue), "they stay")
    }

    /// An animation plays by the frame clock: in its order, as fast and as often as said, and not where it is not seen.
    static func animation(_ stage: Stage) async throws {
        let colours: [Colour] = [.red, .green, .blue]
        let url = try stage.put("a.gif", colours, each: .milliseconds(100))
        let widget = stage.add(gtk_picture_new()), twin = stage.add(gtk_picture_new())
        await stage.present()
        let view = ImageWidget(widget, pipeline: stage.pipeline)
        let log = FrameLog(widget)
        let response = try await view.show(url, size: PixelSize(width: 64, height: 64))
        stage.expect(response.image.frames.count == 3, "\(response.image.frames.count) frames")
        await stage.until("seven frames") { log.follow() >= 7 }
        stage.expect(log.isCyclic(3), "\(log.shown)")
        // The same picture in another widget is drawn from the same textures.
        ImageWidget(twin, pipeline: stage.pipeline).setImage(url, size: PixelSize(width: 64, height: 64))
        let twins = FrameLog(twin)
        twins.follow()
        stage.expect(Set(log.shown).isSuperset(of: twins.shown), "a texture of its own")
        gtk_widget_set_visible(widget, 0)
        let before = log.follow()
        for _ in 0..<40 { await Frame.next(of: twin) }
        stage.expect(log.follow() == before, "it plays unseen")
        gtk_widget_set_visible(widget, 1)
        await stage.until("it plays on") { log.follow() > before + 2 }
        view.setAnimation(AnimationRules(speed: 1_000, loops: .times(1)))
        await stage.until("the last frame") { log.follow() > 0 && log.isLast(of: response.image, stage) }
        let count = log.follow()
        await stage.frames(30)
        stage.expect(log.follow() == count, "it goes on after its loop")
        try await view.show(url, options: .firstFrameOnly, size: PixelSize(width: 64, height: 64))
        let still = log.follow()
        await stage.frames(30)
        stage.expect(log.follow() == still, "the first frame only")
    }

    /// Without motion an animation shows its first frame; it plays when the user allows it again.
    static func motion(_ stage: Stage) async throws {
        let url = try stage.put("a.gif", [.red, .green, .blue], each: .milliseconds(50))
        let widget = stage.add(gtk_picture_new())
        await stage.present()
        Motion.isAllowed = false
        let view = ImageWidget(widget, pipeline: stage.pipeline), log = FrameLog(widget)
        try await view.show(url)
        await stage.frames(30)
        stage.expect(log.follow() == 1, "it plays: \(log.follow())")
        stage.expect(try await stage.screenshot()[50, 50].looks(like: .red), "not the first frame")
        Motion.isAllowed = true
        await stage.until("it plays") { log.follow() > 4 }
        Motion.isAllowed = false
        await stage.frames(2)
        let count = log.follow()
        await stage.frames(30)
        stage.expect(log.follow() <= count + 1, "it plays on")
        stage.expect(try await stage.screenshot()[50, 50].looks(like: .red), "not back at the first frame")
    }

    /// A widget that is hidden gives up its urgency, not its load.
    static func hidden(_ stage: Stage) async throws {
        let widget = stage.add(gtk_picture_new())
        await stage.present()
        let view = ImageWidget(widget, pipeline: stage.pipeline)
        view.setImage(try stage.putSlow(), options: .highPriority)
        stage.expect(view.load()?.priority == .high, "\(String(describing: view.load()?.priority))")
        gtk_widget_set_visible(widget, 0)
        stage.expect(view.load()?.priority == .low, "\(String(describing: view.load()?.priority))")
        gtk_widget_set_visible(widget, 1)
        stage.expect(view.load()?.priority == .high, "\(String(describing: view.load()?.priority))")
        view.cancel()
    }

    /// While a scrolled window moves, loads of low priority wait.
    static func scrolling(_ stage: Stage) async throws {
        let scrolled = stage.add(gtk_scrolled_window_new(), 200, 200)
        let tall = gtk_picture_new()
        gtk_widget_set_size_request(tall, 100, 5_000)
        gtk_scrolled_window_set_child(OpaquePointer(scrolled), tall)
        ScrollFollower.follow(OpaquePointer(scrolled), pipeline: stage.pipeline)
        let widget = stage.add(gtk_picture_new())
        await stage.present()
        let url = try stage.put("red.png", .red)
        let adjustment = gtk_scrolled_window_get_vadjustment(OpaquePointer(scrolled))
        gtk_adjustment_set_value(adjustment, 10)
        var isShown = false
        ImageWidget(widget, pipeline: stage.pipeline).setImage(url, options: .lowPriority) { _ in isShown = true }
        for step in 0..<60 {
            gtk_adjustment_set_value(adjustment, Double(20 + step))
            await stage.frames(1)
        }
        stage.expect(!isShown && stage.pipeline.isUserInteracting, "it was loaded meanwhile")
        await stage.until("scrolling is over and it is loaded") { isShown }
        stage.expect(!stage.pipeline.isUserInteracting, "still scrolling")
    }
}

/// GTK's setting.
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

/// Which textures a picture has shown, one after the other.
@MainActor
final class FrameLog {
    private let widget: UnsafeMutablePointer<GtkWidget>
    private(set) var shown: [UnsafeMutableRawPointer] = []

    init(_ widget: UnsafeMutablePointer<GtkWidget>) {
        self.widget = widget
        g_object_ref(widget)
        Self.watch(self)
    }

    isolated deinit { g_object_unref(widget) }

    private static func watch(_ log: FrameLog) {
        gtk_widget_add_tick_callback(
            log.widget,
            { _, _, log in
                nonisolated(unsafe) let log = log
                MainActor.assumeIsolated {
                    if let log { _ = Unmanaged<FrameLog>.fromOpaque(log).takeUnretainedValue().follow() }
                }
                return 1
            },
            Unmanaged.passRetained(log).toOpaque(),
            { log in if let log { Unmanaged<FrameLog>.fromOpaque(log).release() } }
        )
    }

    /// Notes what is shown now; gives how many changes there were.
    @discardableResult
    func follow() -> Int {
        guard let paintable = gtk_picture_get_paintable(OpaquePointer(widget)),
            let picture = eidetic_paintable_picture(UnsafeMutableRawPointer(paintable))
        else { return shown.count }
        let now = UnsafeMutableRawPointer(picture)
        if shown.last != now { shown.append(now) }
        return shown.count
    }

    /// Whether so many frames follow each other in one order.
    func isCyclic(_ count: Int) -> Bool {
        let cycle = shown.suffix(2 * count)
        return Set(cycle).count == count && zip(cycle, cycle.dropFirst(count)).allSatisfy { $0 == $1 }
    }

    /// Whether the frame of the last colour, blue, is shown.
    func isLast(of image: Image, _ stage: Stage) -> Bool {
        guard let paintable = gtk_picture_get_paintable(OpaquePointer(widget)),
            let picture = eidetic_paintable_picture(UnsafeMutableRawPointer(paintable))
        else { return false }
        var pixels = [UInt8](repeating: 0, count: 64 * 64 * 4)
        gdk_texture_download(picture, &pixels, 64 * 4)
        let colour = Colour(red: pixels[2], green: pixels[1], blue: pixels[0])
        return colour.looks(like: .blue, within: 12)
    }
}

extension Colour {
    /// Whether it belongs to the bright part of an indicator's ring.
    var isBright: Bool { Int(red) + Int(green) + Int(blue) > 600 }
}

extension Screenshot {
    /// The pixels on the ring of an indicator with its middle at a place.
    func ring(_ x: Int, _ y: Int) -> [Colour] {
        var colours: [Colour] = []
        for dy in -18...18 {
            for dx in -18...18 where (196...324).contains(dx * dx + dy * dy) { colours.append(self[x + dx, y + dy]) }
        }
        return colours
    }
}
#endif
