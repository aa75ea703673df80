package reshardctl.interop;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Loads the library afresh for each application, so that none sees another's static state.
 *
 * <p>Release 3 keeps its stream id cache and a thread pool in statics, and all releases keep the
 * thread factories there by which a log line finds its application. Everything below the library
 * (the SDK, netty, logback) is shared, and so are the bytes of the classes that are not: two
 * thousand of them for each application, which took longer to find and unpack than to load.
 */
final class Isolated extends ClassLoader {
    private static final String[] OWN = {
        "software.amazon.kinesis.",
        "com.amazonaws.services.kinesis.clientlibrary.",
        "com.amazonaws.services.kinesis.leases.",
        "com.amazonaws.services.kinesis.metrics.",
        // It finds the library's own beans by name, through its own loader.
        "software.amazon.awssdk.enhanced.",
        "reshardctl.interop.worker."
    };
    private static final String WORKER = "reshardctl.interop.worker.Worker";
    private static final Map<String, byte[]> CODE = new ConcurrentHashMap<>();
    private static final byte[] NONE = {};

    static {
        registerAsParallelCapable();
    }

    private Isolated() {
        super(Isolated.class.getClassLoader());
    }

    static Application application() throws ReflectiveOperationException {
        var loader = new Isolated();
        Thread.currentThread().setContextClassLoader(loader);
        var type = Class.forName(WORKER, true, loader);
        return (Application) type.getDeclaredConstructor().newInstance();
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (Arrays.stream(OWN).noneMatch(name::startsWith)) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            var loaded = findLoadedClass(name);
            return loaded != null ? loaded : findClass(name);
        }
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        var code = CODE.computeIfAbsent(name, Isolated::read);
        if (code == NONE) {
            throw new ClassNotFoundException(name);
        }
        return defineClass(
                name, code, 0, code.length, Isolated.class.getProtectionDomain());
    }

    private static byte[] read(String name) {
        var file = name.replace('.', '/') + ".class";
        try (var stream = Isolated.class.getClassLoader().getResourceAsStream(file)) {
            return stream == null ? NONE : stream.readAllBytes();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
