package reshardctl.interop.agent;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;

/** The agent: shortens the waits that were asked for while classes load, and says so. */
public final class ShortWaits implements ClassFileTransformer {

    /** Called by the virtual machine for {@code -javaagent}. */
    public static void premain(String arguments, Instrumentation machine) {
        machine.addTransformer(new ShortWaits());
    }

    @Override
    public byte[] transform(
            ClassLoader loader, String type, Class<?> old, ProtectionDomain domain, byte[] bytes) {
        for (var wait : Wait.ALL) {
            if (wait.type().equals(type) && wait.asked()) {
                return shortened(bytes, wait);
            }
        }
        return null;
    }

    private static byte[] shortened(byte[] bytes, Wait wait) {
        try {
            var result = Shortened.of(bytes, wait);
            System.err.println("shortened " + wait);
            return result;
        } catch (RuntimeException | LinkageError failure) {
            // The machine swallows what a transformer throws and loads the class as it was; a run
            // that then waits for minutes would look like a library that does nothing.
            System.err.println("not shortened: " + failure);
            Runtime.getRuntime().halt(70);
            return null;
        }
    }
}
